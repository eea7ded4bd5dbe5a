"""Keep a table in PostgreSQL equal to the pages of a collection. Rows and cursor change in one transaction."""

from hashlib import sha256
from typing import Any

from sanderling.config.redact import redact_password
from sanderling.db.postgres import extract_first_line
from sanderling.errors import MissingExtra, SinkUnavailable, UsageError
from sanderling.export.row_files import Row
from sanderling.export.sink import SinkBatch, SinkColumn, SinkOptions, get_cell

COLUMN_TYPES = {
    "integer": "bigint",
    "number": "double precision",
    "boolean": "boolean",
    "time": "timestamptz",
    "json": "jsonb",
    "text": "text",
}
CURSOR_TABLE = "sanderling_cursors"


class PostgresSink:
    """A table with a row per page; deleted pages are deleted. Columns that are missing are added."""

    def __init__(self, options: SinkOptions) -> None:
        try:
            import psycopg
            from psycopg import sql
        except ImportError:
            raise MissingExtra("a PostgreSQL sink", "postgresql") from None
        self.psycopg: Any = psycopg
        self.sql: Any = sql
        self.target = redact_password(options.target)
        self.table = sql.Identifier(options.table)
        self.columns = [column for column in options.columns if column.name != "deleted"]
        self.name = f"{options.table} {sha256(options.signing_key.encode()).hexdigest()[:16]}"
        try:
            self.connection = psycopg.connect(options.target, autocommit=True, connect_timeout=10)
        except psycopg.ProgrammingError:  # its message contains the address with the password
            raise UsageError("not a PostgreSQL address; use postgresql://user@host/database") from None
        except psycopg.OperationalError as error:
            raise self._build_error(error) from None
        self._prepare_tables()

    def _prepare_tables(self) -> None:
        sql = self.sql
        try:
            with self.connection.transaction():
                self.connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (CURSOR_TABLE,))
                self.connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {CURSOR_TABLE} (name text PRIMARY KEY, visit bigint NOT NULL)"
                )
                self.connection.execute(
                    sql.SQL("CREATE TABLE IF NOT EXISTS {} (url text PRIMARY KEY)").format(self.table)
                )
                for column in self.columns:
                    self.connection.execute(
                        sql.SQL("ALTER TABLE {} ADD COLUMN IF NOT EXISTS {} " + COLUMN_TYPES[column.kind]).format(
                            self.table, _name_column(sql, column)
                        )
                    )
                self.connection.execute(
                    f"INSERT INTO {CURSOR_TABLE} VALUES (%s, 0) ON CONFLICT (name) DO NOTHING", (self.name,)
                )
        except self.psycopg.Error as error:
            raise self._build_error(error) from error

    def load_cursor(self) -> int | None:
        """Return the last visit that the table contains."""
        try:
            row = self.connection.execute(f"SELECT visit FROM {CURSOR_TABLE} WHERE name = %s", (self.name,)).fetchone()
        except self.psycopg.Error as error:
            raise self._build_error(error) from error
        return int(row[0]) if row else 0

    def write_batch(self, batch: SinkBatch) -> None:
        """Insert, update, and delete rows, and move the cursor."""
        deleted = [row["url"] for row in batch.rows if row["deleted"]]
        stored = [self._build_values(row) for row in batch.rows if not row["deleted"]]
        try:
            with self.connection.transaction(), self.connection.cursor() as cursor:
                cursor.execute(
                    f"UPDATE {CURSOR_TABLE} SET visit = %s WHERE name = %s AND visit = %s",
                    (batch.until, self.name, batch.since),
                )
                if cursor.rowcount != 1:
                    raise SinkUnavailable(f"another process writes to {self.target}")
                if deleted:
                    query = self.sql.SQL("DELETE FROM {} WHERE url = ANY(%s)").format(self.table)
                    cursor.execute(query, (deleted,))
                if stored:
                    cursor.executemany(self._build_upsert(), stored)
        except self.psycopg.Error as error:
            raise self._build_error(error) from error

    def _build_upsert(self) -> Any:
        sql = self.sql
        names = [_name_column(sql, column) for column in self.columns]
        return sql.SQL("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT (url) DO UPDATE SET {}").format(
            self.table,
            sql.SQL(", ").join(names),
            sql.SQL(", ").join(sql.SQL("%s::" + COLUMN_TYPES[column.kind]) for column in self.columns),
            sql.SQL(", ").join(sql.SQL("{0} = excluded.{0}").format(name) for name in names),
        )

    def _build_values(self, row: Row) -> list[object]:
        return [_remove_nul(get_cell(row, column), column.kind) for column in self.columns]

    def _build_error(self, error: Exception) -> SinkUnavailable:
        return SinkUnavailable(f"cannot write to {self.target}: {extract_first_line(error)}")

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def _name_column(sql: Any, column: SinkColumn) -> Any:
    return sql.Identifier(column.name.replace(".", "_"))


def _remove_nul(value: object, kind: str) -> object:
    """Remove the character that PostgreSQL cannot store."""
    if not isinstance(value, str):
        return value
    return value.replace("\\u0000", "") if kind == "json" else value.replace("\x00", "")
