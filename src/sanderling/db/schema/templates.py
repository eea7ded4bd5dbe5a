"""Tables of `templates`."""

MIGRATIONS = [
    """
    CREATE TABLE structure_shapes (id INTEGER PRIMARY KEY, signature BLOB NOT NULL UNIQUE);
    CREATE TABLE structure_bands (
        key INTEGER NOT NULL,
        shape INTEGER NOT NULL,
        PRIMARY KEY (key, shape)
    ) WITHOUT ROWID;
    CREATE TABLE structure_pages (
        url INTEGER PRIMARY KEY,
        site INTEGER NOT NULL,
        shape INTEGER NOT NULL,
        template INTEGER NOT NULL
    );
    CREATE INDEX structure_pages_site ON structure_pages (site, template);
    CREATE INDEX structure_pages_shape ON structure_pages (shape);
    CREATE TABLE structure_sites (site INTEGER PRIMARY KEY, model BLOB NOT NULL);
    CREATE TABLE structure_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL)
    """,
    # templates are learned again with new title rules
    "DELETE FROM structure_sites; UPDATE structure_pages SET template = -1",
]
