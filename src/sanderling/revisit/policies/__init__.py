"""Revisit policies: when a page is due again."""
