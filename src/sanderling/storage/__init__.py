"""Store crawl results: the page catalog in SQL, and WARC files with their CDXJ index.

Visits arrive in batches. WARC bytes are flushed before the transaction that refers to them. Databases (SQLite,
PostgreSQL) are opened by `db`; `warc/remote.py` writes WARC files to other machines.
"""
