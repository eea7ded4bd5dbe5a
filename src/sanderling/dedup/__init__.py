"""Near duplicates by MinHash, redundant URL variants, and duplicate statistics (MIG).

Identical bodies are detected by `storage`, known links by `frontier`.
"""
