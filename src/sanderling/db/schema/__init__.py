"""Tables and numbered migrations, one module per owning package."""
