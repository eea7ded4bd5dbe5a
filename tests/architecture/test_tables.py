"""A table is written only by the package that owns it; other packages read it through the owner or a report.

The number of modules that read tables of other packages may only become smaller.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "sanderling"
SCHEMA_OWNERS = {"feedback": "search", "control": "storage"}  # schema modules whose owner has another name
REPORTS = (  # may read every table; the conversion copies them all
    "storage/queries.py", "storage/reports.py", "storage/shard_conversion.py", "crawl/explain.py", "api/reports/"
)  # fmt: skip
SHARED_TABLES = {"meta", "blobs", "migrations", "schema_versions", "runs"}  # of the collection itself
CREATED = re.compile(r"(?:CREATE TABLE (?:IF NOT EXISTS )?|ALTER TABLE \w+ RENAME TO )(\w+)")
READ = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")
WRITTEN = re.compile(r"\b(?:INTO|UPDATE|DELETE FROM)\s+(\w+)")
MAX_FOREIGN_READERS = 14


def strings_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def owners_by_table() -> dict[str, set[str]]:
    """Return the owners of each table; `signals` exists in two databases."""
    tables = defaultdict(set)
    for path in (SOURCE / "db" / "schema").glob("*.py"):
        for text in strings_of(path):
            for table in CREATED.findall(text):
                tables[table].add(SCHEMA_OWNERS.get(path.stem, path.stem))
    return {table: owners for table, owners in tables.items() if table not in SHARED_TABLES}


def find_foreign_sql(pattern: re.Pattern[str]) -> dict[str, set[str]]:
    """Return the modules that use tables of other packages in statements that match, with those tables."""
    owners, found = owners_by_table(), defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        module = path.relative_to(SOURCE).as_posix()
        if module.startswith(("db/", "publisher/")):  # the publisher has a database of its own
            continue
        for text in strings_of(path):
            for table in pattern.findall(text):
                if table in owners and module.split("/")[0] not in owners[table]:
                    found[module].add(table)
    return found


def test_every_schema_has_an_owner() -> None:
    assert {o for owners in owners_by_table().values() for o in owners if not (SOURCE / o).is_dir()} == set()


def test_tables_are_written_only_by_their_owner() -> None:
    assert find_foreign_sql(WRITTEN) == {}


def test_readers_of_foreign_tables_do_not_increase() -> None:
    found = {module: tables for module, tables in find_foreign_sql(READ).items() if not module.startswith(REPORTS)}
    assert len(found) <= MAX_FOREIGN_READERS, "\n".join(f"{m}: {', '.join(sorted(found[m]))}" for m in sorted(found))
