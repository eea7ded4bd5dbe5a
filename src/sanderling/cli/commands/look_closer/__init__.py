"""Commands that look closer at a collection."""
