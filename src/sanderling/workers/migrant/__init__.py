"""Migrant: a worker on the machine of a web server. Signed requests in, new and changed pages out; no code.

On the crawler's machine:

- `proxy`: fetch loop of a worker whose pages are fetched by a migrant
- `requests`, `client`: open requests and retries; connection and message queue
- `validation`, `spot_checks`: limits for received messages; sampling of pages reported as unchanged

On the machine of the web server:

- `migrant_server`, `sender`: HTTP server; compression and sending of results
- `owner_rules`, `rate_limit`, `compression`: what the owner allows, how fast, and how results are compressed
- `site_walk`, `site_reader`: one request; the pages of the site by HTTP or from files

On both: `messages`, `keys` (Ed25519), and `shared_dictionary` (zstd dictionary of the first visit).
"""
