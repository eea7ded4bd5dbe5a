"""The URL organiser: one spelling per URL, and what may be asked for at all.

A raw string comes in; a `Url` (the key), its wire spelling and a verdict (in scope, trap, too long ...) go out.
"""
