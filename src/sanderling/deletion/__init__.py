"""Permanent deletion of pages."""
