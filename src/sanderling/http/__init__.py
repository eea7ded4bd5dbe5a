"""Response heads, content types, and content decoding; no I/O."""
