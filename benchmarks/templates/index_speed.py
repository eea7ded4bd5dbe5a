"""Size and speed of the template index, and the cost of the structure fingerprint while crawling."""

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.templates.labelled_sites import ROOT, Site, load_views

from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.templates import MIGRATIONS
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.links import extract_metadata
from sanderling.html.parser import parse_html
from sanderling.templates.concept_averaging import infer_concepts
from sanderling.templates.page_features import extract_features
from sanderling.templates.template_index import SEGMENT_PAGES, SiteConcepts, TemplateIndex

CATALOG = """
CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE urls (id INTEGER PRIMARY KEY, host INTEGER, path TEXT, state TEXT, reason TEXT);
CREATE TABLE pages (url INTEGER PRIMARY KEY, title TEXT, status INTEGER);
CREATE TABLE fingerprints (url INTEGER, kind TEXT, value BLOB, PRIMARY KEY (url, kind));
CREATE TABLE visits (id INTEGER PRIMARY KEY, url INTEGER);
"""
QUERIES = 60


def build_speed_table(sites: Sequence[Site], pages: int) -> Iterator[str]:
    """Yield the table: one host with so many pages, which are copies of the labelled ones in other folders."""
    yield "### Speed"
    yield ""
    yield "| what | measured | target |"
    yield "|---|---:|---:|"
    yield f"| structure fingerprint, share of parsing and link extraction | {measure_fingerprint(sites):.0%} | 15 % |"
    views = [view for site in sites for view in load_views(site).values()]
    indexed = min(pages, 6 * SEGMENT_PAGES)
    with tempfile.TemporaryDirectory() as folder:
        catalog = sqlite3.connect(":memory:")
        catalog.executescript(CATALOG)
        catalog.execute("INSERT INTO hosts VALUES (1, ?)", (ROOT,))
        for n in range(indexed):
            view, copy = views[n % len(views)], n // len(views)
            catalog.execute(
                "INSERT INTO urls VALUES (?, 1, ?, 'visited', '')", (n + 1, f"/{copy}{view.url[len(ROOT) :]}")
            )
            catalog.execute("INSERT INTO pages VALUES (?, ?, 200)", (n + 1, view.title))
            catalog.execute("INSERT INTO fingerprints VALUES (?, 'structure', ?)", (n + 1, view.fingerprint))
            catalog.execute("INSERT INTO visits VALUES (?, ?)", (n + 1, n + 1))
        db = connect_sqlite(Path(folder, "structure.db"))
        apply_migrations(db, {"structure": MIGRATIONS})
        index = TemplateIndex(db, catalog)
        start = time.process_time()
        index.update()
        seconds = time.process_time() - start
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = Path(folder, "structure.db").stat().st_size
        yield f"| indexing, pages per second | {indexed / seconds:,.0f} | |"
        yield f"| index on disk, bytes per page ({indexed:,} pages of one host) | {size / indexed:.0f} | 200 |"
        samples = list(index.load_views(random.Random(2).sample(range(1, indexed), QUERIES)).values())
        spans = [time_query(SiteConcepts(db, 1), extract_features(view)) for view in samples]
        yield f"| look-up among {indexed:,} pages of one host, one sample, processor time | {describe(spans)} | |"
        copies = pages // indexed
        step = indexed // SEGMENT_PAGES
        for copy in range(1, copies):
            db.execute(
                "INSERT INTO template_postings SELECT site, feature, segment + ?, pages FROM template_postings"
                " WHERE segment < ?",
                (copy * step, step),
            )
        db.execute("UPDATE template_sites SET page_count = ?", (copies * indexed,))
        db.execute("UPDATE template_sets SET size = size * ?", (copies,))
        spans = [time_query(SiteConcepts(db, 1), extract_features(view)) for view in samples]
        yield f"| look-up among {copies * indexed:,} pages of one host | {describe(spans)} | 50 ms |"
        db.close()


def time_query(source: SiteConcepts, features: frozenset[int]) -> float:
    start = time.process_time()
    infer_concepts(source, [features]).rank_pages()
    return time.process_time() - start


def describe(spans: Sequence[float]) -> str:
    ordered = sorted(spans)
    return f"median {1e3 * statistics.median(ordered):.0f} ms, 95 % {1e3 * ordered[int(0.95 * len(ordered))]:.0f} ms"


def measure_fingerprint(sites: Sequence[Site]) -> float:
    """Return the time of the fingerprint as a share of parsing and link extraction."""
    bodies = [site.read(path) for site in sites for path in random.Random(3).sample(sorted(site.types), 20)]
    parsing = fingerprint = 0.0
    for body in bodies:
        best = [1e9, 1e9]
        for _ in range(3):
            start = time.perf_counter()
            tree = parse_html(body)
            extract_metadata(tree, ROOT)
            middle = time.perf_counter()
            fingerprint_structure(tree)
            best = [min(best[0], middle - start), min(best[1], time.perf_counter() - middle)]
        parsing, fingerprint = parsing + best[0], fingerprint + best[1]
    return fingerprint / parsing
