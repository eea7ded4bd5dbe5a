"""MIG Table 7.2: dead and redundant links among 70 documents."""

import tempfile
from pathlib import Path
from random import Random

from experiments.crawls import request
from experiments.frame import Figure, Series, Table, measured
from experiments.web import Server, Site, page, path_of, serving
from sanderling.crawl.session import crawl
from sanderling.models import UrlState
from sanderling.storage.collection import open_collection_read_only

TITLE = "MIG Table 7.2: dead and redundant links identified (measured)"

DOCUMENTS, DEAD, COPIES, SPELLINGS = 70, 15, 12, 17  # 29 redundant links: copies of pages, and other spellings of them
PINNED = "a03bb985fbd8cbfa"


def make() -> Site:
    """Make 70 documents; the first links to all, to 15 that are not there, and to 29 that are there already."""
    draw = Random(72)
    pages = {path_of(number): page(number, [draw.randrange(DOCUMENTS)], draw) for number in range(1, DOCUMENTS)}
    links = [path_of(number) for number in range(1, DOCUMENTS)]
    links += [f"/gone{number}.html" for number in range(DEAD)]
    for number in range(1, COPIES + 1):
        pages[f"/copy{number}.html"] = pages[path_of(number)]
        links.append(f"/copy{number}.html")
    spellings = ("{}#top", "/./..{}", "/x/..{}", "{}#")
    links += [spellings[number % 4].format(path_of(number)) for number in range(20, 20 + SPELLINGS)]
    anchors = "".join(f'<a href="{link}">{link}</a>\n' for link in links)
    pages["/"] = f"<!doctype html><title>Start</title><p>all documents</p>{anchors}".encode()
    return Site(pages, dict.fromkeys(pages, 0))


def table() -> Table:
    """Crawl them, and count what was recognized and what was stored."""
    site = make()
    with tempfile.TemporaryDirectory() as folder, serving(Server(site)) as server:
        summary = crawl(Path(folder, "c"), request(server, sitemaps=False, migrants=1))
        fetched = len([path for path in server.asked if path != "/robots.txt"])
        with open_collection_read_only(Path(folder, "c")) as collection:
            (gone,) = collection.db.execute("SELECT count(*) FROM urls WHERE state = ?", (UrlState.GONE,)).fetchone()
    once = DOCUMENTS + DEAD + COPIES
    spelled = once + SPELLINGS - fetched
    rows = (
        measured("dead links identified", 15, 15, gone, DEAD, DEAD),
        measured("redundant links: copies identified", None, COPIES, summary.duplicates, COPIES, COPIES),
        measured("redundant links: spellings never fetched", None, SPELLINGS, spelled, SPELLINGS, SPELLINGS),
        measured("redundant links identified in all", 29, 29, summary.duplicates + spelled, 29, 29),
        measured("pages stored, each once", 70, 70, summary.pages - summary.duplicates, 70, 70),
    )
    remark = (
        "In print it is unclear whether more is better; here both what was recognized and what was stored is counted."
    )
    bars = (
        Series("conventional, printed", (9.0, 4.0)),
        Series("proposed, printed", (15.0, 29.0)),
        Series("ours", (float(gone), float(summary.duplicates + spelled))),
    )
    figure = Figure("Dead and redundant links identified", ("dead", "redundant"), bars, "links")
    return Table(TITLE, rows, remark, figure, site.digest(), PINNED)
