"""Replay of stored pages: captures, Memento (RFC 7089), a CDX server API, and pages rewritten or made harmless."""
