"""Crawl frontier: the URL queue on disk, leases with fencing tokens, politeness per host and address.

URL states: queued -> leased -> visited, skipped, failed or gone. A URL whose lease is lost is queued again.
"""
