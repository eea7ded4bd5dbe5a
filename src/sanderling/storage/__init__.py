"""The repository: catalogue of pages and visits, WARC files with their CDXJ index.

Visits come in, in batches; the WARC bytes are flushed before the transaction that names them.
"""
