"""Commands for everyday use."""
