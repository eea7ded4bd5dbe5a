"""Example plugins for Sanderling."""
