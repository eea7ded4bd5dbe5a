"""Replay of stored pages: Memento (RFC 7089) and a CDX server API, on an origin of its own."""
