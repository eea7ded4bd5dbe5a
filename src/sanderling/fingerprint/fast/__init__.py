"""Fast comparison of two page versions, with the same result as comparing full fingerprints."""
