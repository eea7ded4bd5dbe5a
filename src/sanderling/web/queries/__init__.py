"""Read-only queries of the web application."""
