"""The public Python API. `sanderling/__init__.py` exports its names; everything else may change without notice."""
