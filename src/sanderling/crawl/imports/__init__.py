"""Import archives of other programs."""
