"""Near duplicates by MinHash, redundant URL variants, and duplicate statistics (MIG-10).

Identical bodies are detected by `storage`, known links by `frontier`.
"""
