"""Tables and numbered migrations of each package.

A module has the list MIGRATIONS; entry N is applied once, in order, by `apply_migrations` in `db/connection.py`. To
change a table, append an entry to the list of its package.
"""
