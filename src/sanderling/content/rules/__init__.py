"""Rules that recognize boilerplate inside the main content."""
