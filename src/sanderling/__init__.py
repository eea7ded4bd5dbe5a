"""Sanderling: an incremental web crawler, change detector and search engine (see docs/explanation/architecture.md)."""

__version__ = "0.1.0"
