"""Similar pages: in the collection and on the web."""
