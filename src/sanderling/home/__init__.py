"""What becomes of a batch that came home, step by step; `pipeline.py` says in which order."""
