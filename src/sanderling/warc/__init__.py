"""WARC records, archives, and CDXJ indexes."""
