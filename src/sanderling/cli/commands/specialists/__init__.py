"""Commands for specialists."""
