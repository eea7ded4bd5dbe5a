"""Similar pages, measured: page types found from samples, index, driven crawls.

    python -m benchmarks.templates.structure [--data DIR] [--only NAME] [--write]

The pages are those of the labelled Debian packages (structure-debian in SANDERLING_SUITES), unpacked below DIR/sites,
and those that `benchmarks.templates.build_sites` and `package_sites` make.
Every number is measured here; `--write` puts them into docs/explanation/templates.md.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.templates.driven_crawl import build_driven_table
from benchmarks.templates.field_table import build_field_table
from benchmarks.templates.index_speed import build_speed_table
from benchmarks.templates.labelled_sites import load_built_sites, load_labelled_sites
from benchmarks.templates.page_types import build_fresh_table, build_package_table, build_types_table, build_whole_table
from benchmarks.templates.query_crawl import build_query_table

DOCUMENT = Path("docs/explanation/templates.md")
BEGIN, END = (
    "<!-- measures: written by python -m benchmarks.templates.structure --write -->",
    "<!-- end of measures -->",
)


def main() -> None:
    """Measure what is asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("bench-data"), help="folder with sites/PACKAGE unpacked")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        help="types, whole, built, packages, speed, fields, queries, driven, driven-built",
    )
    parser.add_argument("--site", action="append", default=[], help="only sites whose name contains this")
    parser.add_argument("--pages", type=int, default=1_000_000, help="stored pages in the look-up test")
    parser.add_argument("--largest", type=int, default=300, help="largest type in the driven crawls")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/explanation/templates.md")
    args = parser.parse_args()
    sites = [
        site for site in load_labelled_sites(args.data) if not args.site or any(part in site.name for part in args.site)
    ]
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "types": lambda: build_types_table(sites),
        "whole": lambda: build_whole_table(sites),
        "built": lambda: build_fresh_table(load_built_sites(args.data)),
        "packages": lambda: build_package_table(load_built_sites(args.data, "packages")),
        "speed": lambda: build_speed_table(sites, args.pages),
        "fields": lambda: build_field_table(args.data),
        "queries": lambda: build_query_table(sites),
        "driven": lambda: build_driven_table(sites, args.largest),
        "driven-built": lambda: build_driven_table(
            load_built_sites(args.data), args.largest, "Driven crawls on blogs (held out)"
        ),
    }
    for name, part in parts.items():
        if not args.only or name in args.only:
            lines = []
            for line in part():
                print(line, flush=True)
                lines.append(line)
            if args.write:
                write_part("\n".join(lines))


def write_part(part: str) -> None:
    """Put one part into the document, in the place of the one with the same heading."""
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    parts = {found.partition("\n")[0]: found.strip() for found in re.split(r"^(?=### )", old, flags=re.MULTILINE)[1:]}
    parts[part.partition("\n")[0]] = part
    fresh = "\n\n".join(["## Measures", *parts.values()])
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{fresh}\n\n{END}{after}")


if __name__ == "__main__":
    main()
