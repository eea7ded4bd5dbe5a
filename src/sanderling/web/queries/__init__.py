"""Read-only reporting queries of the web app."""
