"""Sanderling: an incremental web crawler, change detector and search engine.

The code is a house and the data walks through it one way; docs/explanation/architecture.md draws it.
"""

__version__ = "0.1.0"
