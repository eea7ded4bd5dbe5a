"""Tables and numbered migrations of each package."""
