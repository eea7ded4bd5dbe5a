"""Command modules, one per command.

`cli/__init__.py` says what a command module defines, and lists the commands by group; `export.py` is a short example.
"""
