"""HTML parsing and extraction: bytes in, values out, no I/O.

Flow: `parser.parse_html` decodes and parses the body once. `links`, `text`, `tag_tree`, and the content and fingerprint
packages read that tree, because parsing takes half of the CPU time of a crawl.
"""
