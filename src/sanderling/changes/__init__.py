"""The change detector: two versions of a page in, one typed report out."""
