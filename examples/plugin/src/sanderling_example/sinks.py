"""A sink: write rows to a SQLite database. Rows and cursor change in one transaction, so each row is there once."""

import json
import sqlite3
from contextlib import closing

from sanderling import SinkBatch, SinkOptions, SinkUnavailable


class SqliteSink:
    """A table `pages` with the last row of each page, at `sqlite:///path/of/file.db`."""

    def __init__(self, options: SinkOptions) -> None:
        try:
            self.db = sqlite3.connect(options.target.removeprefix("sqlite://"))
            with self.db:
                self.db.execute("CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, visit INTEGER, row TEXT)")
                self.db.execute("CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY, visit INTEGER)")
        except sqlite3.Error as error:
            raise SinkUnavailable(f"{options.target}: {error}") from None

    def load_cursor(self) -> int | None:
        """Return the last visit that the target contains."""
        with closing(self.db.execute("SELECT visit FROM progress")) as rows:
            found = rows.fetchone()
        return int(found[0]) if found else 0

    def write_batch(self, batch: SinkBatch) -> None:
        """Write a batch and the cursor."""
        try:
            with self.db:
                for row in batch.rows:
                    if row["deleted"]:
                        self.db.execute("DELETE FROM pages WHERE url = ?", (row["url"],))
                    else:
                        values = (row["url"], row["visit"], json.dumps(row))
                        self.db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", values)
                self.db.execute("INSERT OR REPLACE INTO progress VALUES (1, ?)", (batch.until,))
        except sqlite3.Error as error:
            raise SinkUnavailable(str(error)) from None

    def close(self) -> None:
        self.db.close()
