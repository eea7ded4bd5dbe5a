"""Normalize URLs and decide which URLs may be crawled.

raw string -> normalize -> URL key and request URL -> scope, traps, pattern_budget, blocklist -> reason for rejection
"""
