"""Tables of `templates`: the inverted index of page features, in a database of its own."""

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
    # concept averaging: postings per feature instead of shapes and learned templates
    """
    DROP TABLE structure_shapes;
    DROP TABLE structure_bands;
    DROP TABLE structure_pages;
    DROP TABLE structure_sites;
    DROP TABLE structure_state;
    CREATE TABLE template_pages (
        url INTEGER PRIMARY KEY,
        site INTEGER NOT NULL,
        number INTEGER NOT NULL,
        digest INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX template_pages_site ON template_pages (site, number);
    CREATE TABLE template_postings (
        site INTEGER NOT NULL,
        feature INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        pages BLOB NOT NULL,
        PRIMARY KEY (site, feature, segment)
    ) WITHOUT ROWID;
    CREATE TABLE template_sites (site INTEGER PRIMARY KEY, page_count INTEGER NOT NULL, concepts BLOB NOT NULL);
    CREATE TABLE template_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL)
    """,
    # size and coherence of the pages of each feature; the index is built anew
    """
    DROP TABLE template_sites;
    DELETE FROM template_pages;
    DELETE FROM template_postings;
    DELETE FROM template_state;
    CREATE TABLE template_sites (site INTEGER PRIMARY KEY, page_count INTEGER NOT NULL);
    CREATE TABLE template_sets (
        site INTEGER NOT NULL,
        feature INTEGER NOT NULL,
        digest INTEGER NOT NULL,
        size INTEGER NOT NULL,
        saving REAL NOT NULL,
        PRIMARY KEY (site, feature)
    ) WITHOUT ROWID
    """,
    # directories are features too; the index is built anew
    """
    DELETE FROM template_pages;
    DELETE FROM template_postings;
    DELETE FROM template_sets;
    DELETE FROM template_sites;
    DELETE FROM template_state
    """,
]
