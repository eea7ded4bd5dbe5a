"""The duplicate eliminator: exact by digest, near by simhash, and its cache."""
