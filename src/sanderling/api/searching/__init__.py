"""Search with a cache of results, and the behavior of its users."""
