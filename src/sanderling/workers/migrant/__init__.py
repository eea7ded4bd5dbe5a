"""Migrant: a worker on the machine of a web server. Signed requests in, new and changed pages out; no code.

On the crawler's machine: `proxy`, `requests`, `client`, `validation`, `spot_checks`. On the machine of the web server:
`migrant_server`, `sender`, `owner_rules`, `rate_limit`, `compression`, `site_walk`, `site_reader`. On both: `messages`,
`keys` (Ed25519), `shared_dictionary` (zstd).
"""
