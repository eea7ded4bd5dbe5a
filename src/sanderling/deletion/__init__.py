"""Permanent deletion of pages from a collection."""
