"""Bring the structure index up to what is stored: it is derived, lies in a file of its own and can be made again."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite, open_memory_copy
from sanderling.db.schema.templates import MIGRATIONS
from sanderling.fingerprint.structure import decode_features
from sanderling.storage.collection import StoredCollection
from sanderling.storage.link_graph import load_outgoing_links
from sanderling.storage.queries import load_urls
from sanderling.templates.link_model import LinkSeen
from sanderling.templates.link_outcomes import Arrival
from sanderling.templates.template_index import CHUNK, IndexedPage, Structures
from sanderling.templates.template_views import PageView

FILE = "structure.db"
PAGE = (
    "SELECT p.url, u.host, h.name || u.path, p.title, m.value, p.status FROM pages AS p"
    " JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
    " LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'structure'"
)


@contextmanager
def open_structures(collection: StoredCollection) -> Iterator[Structures]:
    """Open the structure index of a collection, brought up to date; a crawl may go on writing meanwhile."""
    db = _open(collection.cdxj_folder)
    try:
        apply_migrations(db, {"structure": MIGRATIONS})
        structures = Structures(db)
        index_new_pages(structures, collection.db)
        yield structures
    finally:
        db.close()


def _open(folder: Path) -> Connection:
    """The file of the index; where nobody may write, a copy that is gone with who asks."""
    if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return open_memory_copy(folder / FILE)
    folder.mkdir(exist_ok=True)
    return connect_sqlite(folder / FILE)


def index_new_pages(structures: Structures, catalogue: Connection) -> int:
    """Index what was visited since the last time; return how many pages."""
    row = structures.db.execute("SELECT value FROM structure_state WHERE name = 'visit'").fetchone()
    done = row[0] if row else 0
    (last,) = catalogue.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()
    if last <= done:
        return 0
    urls = [
        url for (url,) in catalogue.execute("SELECT DISTINCT url FROM visits WHERE id > ? AND id <= ?", (done, last))
    ]
    structures.db.execute("BEGIN IMMEDIATE")
    for start in range(0, len(urls), CHUNK):
        _index(structures, catalogue, urls[start : start + CHUNK])
    structures.db.execute("INSERT OR REPLACE INTO structure_state VALUES ('visit', ?)", (last,))
    structures.db.execute("COMMIT")
    return len(urls)


def _index(structures: Structures, catalogue: Connection, urls: Sequence[int]) -> None:
    marks = ",".join("?" * len(urls))
    pages, gone = [], []
    for url, site, spelling, title, signature, status in catalogue.execute(f"{PAGE} WHERE p.url IN ({marks})", urls):
        if 200 <= status < 300 and signature:
            pages.append(IndexedPage(url, site, spelling, title, bytes(signature)))
        else:
            gone.append(url)
    structures.add(pages)
    structures.remove(gone)


def load_page_views(structures: Structures, catalogue: Connection, site: int) -> list[PageView]:
    """Every indexed page of a site, as its templates are learned from."""
    known = dict(
        structures.db.execute(
            "SELECT url, signature FROM structure_pages JOIN structure_shapes ON shape = id WHERE site = ?", (site,)
        )
    )
    shapes = {signature: decode_features(signature) for signature in set(known.values())}
    rows = catalogue.execute(
        "SELECT p.url, h.name || u.path, p.title FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host WHERE u.host = ?",
        (site,),
    )
    return [PageView(url, spelling, title, shapes[known[url]]) for url, spelling, title in rows if url in known]


def update_site_templates(structures: Structures, catalogue: Connection, site: int) -> None:
    """Learn the templates of a site if they are not known, or if it has grown since."""
    if structures.is_stale(site):
        looks = load_page_views(structures, catalogue, site)
        structures.db.execute("BEGIN IMMEDIATE")
        structures.relearn(site, looks)
        structures.db.execute("COMMIT")


def read_arrivals(catalogue: Connection, pages: Sequence[int]) -> list[Arrival]:
    """Read pages just stored, with their links, for a driven crawl."""
    found = []
    for start in range(0, len(pages), CHUNK):
        part = pages[start : start + CHUNK]
        marks = ",".join("?" * len(part))
        for url, _, spelling, title, signature, _ in catalogue.execute(f"{PAGE} WHERE p.url IN ({marks})", part):
            forward = load_outgoing_links(catalogue, url)
            names = load_urls(catalogue, forward.target_ids)
            links = [
                (target, LinkSeen(names[target], anchor, spelling))
                for target, anchor in zip(forward.target_ids, forward.anchor_texts, strict=True)
                if target in names
            ]
            found.append(Arrival(url, spelling, title, bytes(signature or b""), links))
    return found
