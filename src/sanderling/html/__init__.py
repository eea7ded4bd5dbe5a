"""What a page is: bytes in, values out. No network, no disk.

Bytes and a declared charset come in (`parse.py`), a tree goes out; from that one tree the other modules take links
(`links.py`), text, fingerprints, signatures and shape. Parsing is half of a crawl's work: parse once, take everything.
"""
