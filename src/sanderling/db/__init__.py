"""Connections to SQLite and PostgreSQL, migrations, and the schema of every package."""
