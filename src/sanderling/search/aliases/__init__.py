"""Other names of things, found in stored pages."""
