"""Fast comparison of two page versions; every shortcut agrees with the full fingerprint."""
