"""HTML parsing and extraction: bytes in, values out, no I/O.

`parser.parse_html` parses the body once; all others read that tree, because parsing takes half of the CPU time of a
crawl.
"""
