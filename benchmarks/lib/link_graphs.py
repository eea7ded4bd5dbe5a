"""Link graphs of real sites: documentation packages, parsed once with our parser and stored in a file.

Each site is a host under its real name, so that links from one to another, as their authors wrote them, lead somewhere.
"""

from collections import deque
from pathlib import Path
from urllib.parse import unquote

import msgspec
from benchmarks.lib.doc_sites import SITES, unpacked
from msgspec import Struct

from sanderling.fetch.link_resolution import resolve_links
from sanderling.html.links import extract_metadata
from sanderling.html.parser import parse_html
from sanderling.models import Link, Url
from sanderling.urls.normalize import normalize_url

HOMES = {  # where each site lives on the web, and other names its pages go by
    "postgresql-doc-15": ("https://www.postgresql.org/docs/15/", "https://www.postgresql.org/docs/current/"),
    "python-django-doc": ("https://docs.djangoproject.com/en/3.2/", "https://docs.djangoproject.com/en/stable/"),
    "sqlite3-doc": ("https://www.sqlite.org/", "https://sqlite.org/", "http://www.sqlite.org/", "http://sqlite.org/"),
    "libstdc++-12-doc": ("https://gcc.gnu.org/onlinedocs/libstdc++/",),
    "openjdk-17-doc": ("https://docs.oracle.com/en/java/javase/17/docs/",),
    "junit4-doc": ("https://junit.org/junit4/javadoc/latest/",),
}
HUB = "https://hub.test/"


class Page(Struct, frozen=True, array_like=True):
    """A page of a graph; links lead to pages of the graph, or nowhere."""

    url: Url
    file: str
    links: tuple[Link, ...]


class LinkGraph(Struct, frozen=True):
    """A web to crawl, and where to begin."""

    name: str
    seed: str
    pages: dict[str, Page]


def graph_of(data: Path, names: tuple[str, ...]) -> LinkGraph:
    """The pages that can be reached from the front page of a site, or from a page that links to several."""
    title = names[0] if len(names) == 1 else "linked hosts"
    cache = data / "graphs" / ("+".join(names) + ".msgpack")
    if not cache.exists():
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_bytes(msgspec.msgpack.encode(_walk(title, data, names)))
    return msgspec.msgpack.decode(cache.read_bytes(), type=LinkGraph)


def _walk(title: str, data: Path, names: tuple[str, ...]) -> LinkGraph:
    roots = {name: unpacked(data / "sites", name) / SITES[name] for name in names}
    pages: dict[str, Page] = {}
    if len(names) > 1:
        links = tuple(Link(Url(HOMES[name][0] + "index.html"), anchor=name) for name in names)
        pages[HUB] = Page(Url(HUB), "", links)
    seeds = [HOMES[name][0] + "index.html" for name in names]
    found, waiting = set(seeds), deque(seeds)
    while waiting:
        url = waiting.popleft()
        file = _file_behind(url, roots)
        if file is None:
            continue
        page = pages[url] = Page(Url(url), str(file), _links(url, file, names))
        for link in page.links:
            if link.url not in found:
                found.add(link.url)
                waiting.append(link.url)
    return LinkGraph(title, HUB if len(names) > 1 else seeds[0], pages)


def _file_behind(url: str, roots: dict[str, Path]) -> Path | None:
    for name, root in roots.items():
        home = HOMES[name][0]
        if url.startswith(home):
            path = root / unquote(url[len(home) :].partition("?")[0])
            file = path / "index.html" if path.is_dir() else path
            return file if file.is_file() else None
    return None


def _links(url: str, file: Path, names: tuple[str, ...]) -> tuple[Link, ...]:
    if file.suffix not in (".html", ".htm"):
        return ()
    tree = parse_html(file.read_bytes(), "")
    links: dict[str, Link] = {}
    for link in resolve_links(extract_metadata(tree, url), False):
        at = _at_home(link.url, names)
        links.setdefault(at, Link(Url(at), anchor=link.anchor))
    return tuple(links.values())


def _at_home(url: str, names: tuple[str, ...]) -> str:
    """Map alternative host names of a site to its own."""
    for name in names:
        home, *others = HOMES[name]
        for other in others:
            if url.startswith(other):
                spelling = normalize_url(home + url[len(other) :])
                return spelling.url if spelling else url
    return url
