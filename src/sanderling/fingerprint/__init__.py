"""Fingerprints of page versions."""
