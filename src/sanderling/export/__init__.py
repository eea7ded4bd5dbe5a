"""Export of a collection: rows of pages, versions, links, and changes, written to files and other systems."""
