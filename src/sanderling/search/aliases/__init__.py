"""Find other names of the same thing in stored pages."""
