"""Fields of a table from pages of a type: precision and recall where the fields are known.

Known are single short values of microdata that are not the same on all pages, the title of OpenGraph, and for the shop
the values of its database. Every known field is assigned to the column
that agrees with it on most of the pages that the columns are learned from; it is measured on the others.
"""

import json
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from benchmarks.templates.labelled_sites import ROOT, load_built_sites

from sanderling.api.similarity import TRAINING_PAGES, choose_training_pages
from sanderling.html.parser import Document, parse_html
from sanderling.html.reading import collect_structured_data
from sanderling.templates.field_extraction import MAX_VALUE_LENGTH, learn_fields, read_fields

TYPES = ("post", "product")  # page types that are read
MIN_PAGES = 20
MIN_KNOWN_SHARE = 0.5  # of the pages that have a known field
Row = Mapping[str, str]


class Item(msgspec.Struct):
    properties: dict[str, list[object]] = {}


class StructuredData(msgspec.Struct):
    microdata: list[Item] = []
    opengraph: dict[str, object] = {}


def build_field_table(data: Path) -> Iterator[str]:
    """Yield the table of fields."""
    yield "### Fields"
    yield ""
    yield (
        f"Columns learned from {TRAINING_PAGES} pages, measured on the others: precision is the share of the values of"
        " a column that are the known ones, recall the share of the known values that the column has. Declared values"
        " are columns of their own, so the figures of interest are those of the visible columns alone."
    )
    yield ""
    yield "| site | field | pages | precision | recall | visible: precision | recall |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    rows = []
    for site in load_built_sites(data):
        for kind in TYPES:
            paths = site.group_by_type().get(kind, [])
            documents = {path: parse_html(site.read(path)) for path in paths}
            known = {path: read_known(data, site.name, path, documents[path]) for path in paths}
            if len(paths) >= MIN_PAGES:
                for name, count, shares in measure_fields(documents, known):
                    rows.append(shares)
                    yield f"| {site.name} | {name} | {count} | {' | '.join(f'{share:.2f}' for share in shares)} |"
    means = (statistics.mean(column) for column in zip(*rows, strict=True))
    yield f"| mean | | | {' | '.join(f'{mean:.3f}' for mean in means)} |"


def read_known(data: Path, site: str, path: str, document: Document) -> Row:
    """Return the known fields of a page."""
    file = data / "built" / f"{site}-fields"
    if file.exists():
        known: dict[str, Row] = json.loads(file.read_text())
        return {name: value for name, value in known.get(path, {}).items() if name != "stock"}
    data_ = msgspec.convert(collect_structured_data(document, f"{ROOT}/{path}"), StructuredData)
    found = {name: values for item in data_.microdata for name, values in item.properties.items()}
    found |= {name: [value] for name, value in data_.opengraph.items() if name == "og:title"}
    texts = {
        name: values[0].strip() for name, values in found.items() if len(values) == 1 and isinstance(values[0], str)
    }
    return {name: text for name, text in texts.items() if 0 < len(text) <= MAX_VALUE_LENGTH}


def measure_fields(
    documents: Mapping[str, Document], known: Mapping[str, Row]
) -> Iterator[tuple[str, int, Sequence[float]]]:
    """Yield the known fields with the number of pages measured, precision and recall, of all and of visible columns."""
    taught = choose_training_pages(sorted(documents))
    fields = learn_fields([documents[path] for path in taught])
    columns = range(len(fields)), [n for n, field in enumerate(fields) if not field.declared]
    rows = {path: read_fields(document, fields) for path, document in documents.items()}
    pages = [path for path in sorted(documents) if path not in taught]
    for name in sorted({name for row in known.values() for name in row}):
        values = [row[name] for row in known.values() if name in row]
        if len(values) < MIN_KNOWN_SHARE * len(known) or len(set(values)) == 1:
            continue
        shares: list[float] = []
        for chosen in columns:
            agreeing = {n: sum(is_same(rows[path][n], known[path].get(name, "")) for path in taught) for n in chosen}
            column = max(agreeing, key=agreeing.__getitem__, default=-1)
            read = [rows[path][column] if agreeing.get(column) else "" for path in pages]
            right = sum(is_same(value, known[path].get(name, "")) for value, path in zip(read, pages, strict=True))
            shares += [right / max(1, sum(map(bool, read))), right / max(1, sum(name in known[p] for p in pages))]
        yield name, len(pages), shares


def is_same(value: str, known: str) -> bool:
    """Compare texts without currency, commas, time of day, and case."""
    return bool(known) and simplify(value) == simplify(known)


def simplify(text: str) -> str:
    date = re.match(r"(\d{4}-\d\d-\d\d)[T ][\d:.]+", text)
    return date[1] if date else " ".join(text.replace(",", " ").strip("£€$ ").split()).lower()
