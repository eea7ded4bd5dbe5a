"""From a crawler's request to our answer; the same for ASGI, WSGI and the stand-alone server."""

import gzip
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from sanderling.publisher import xml
from sanderling.publisher.http_dates import http_date, read_time, w3c_exact
from sanderling.publisher.listings import Page, Wish, changes, parts, read_place, sitemap
from sanderling.publisher.published_site import Site
from sanderling.publisher.state_db import Connection, Facts, reading

WELL_KNOWN = "/.well-known/resourcesync"
SKEW = 60_000  # a crawler's clock may be this far ahead of ours
FORMS = "ISO 8601 (2024-05-01T10:00:00Z), an HTTP date or unix seconds"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, as far as we look at it."""

    path: str
    query: str = ""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""


class Refusal(Exception):
    """The crawler asked for something that cannot be; the sentence says what can."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.sentence, self.status = sentence, status


def ours(site: Site, path: str) -> bool:
    """Say if a path is one that the publisher answers."""
    return path in (site.sitemap_path, site.changes_path) or path.startswith(WELL_KNOWN) or _is_key(site, path)


def _is_key(site: Site, path: str) -> bool:
    return bool(site.indexnow_key) and path == f"/{site.indexnow_key}.txt"


def answer(site: Site, db: Connection, ask: Ask, now: int) -> Answer:
    """Answer a request for one of our paths."""
    if ask.method not in ("GET", "HEAD"):
        return plain(405, "only GET and HEAD are answered here", ("Allow", "GET, HEAD"))
    if _is_key(site, ask.path):
        return plain(200, site.indexnow_key)
    try:
        with reading(db) as known:
            return _document(site, db, known, ask, now)
    except Refusal as refused:
        return plain(refused.status, refused.sentence)


def plain(status: int, sentence: str, *headers: tuple[str, str]) -> Answer:
    """Answer with one sentence."""
    body = (sentence + "\n").encode()
    return Answer(status, (("Content-Type", "text/plain; charset=utf-8"), *headers), body)


def _document(site: Site, db: Connection, known: Facts, ask: Ask, now: int) -> Answer:
    query = _parameters(ask.query)
    tag = f'W/"{known.stamp:x}"'
    if _is_same(ask, tag):
        return Answer(304, (("ETag", tag), ("Last-Modified", http_date(known.stamp))))
    if ask.path.startswith(WELL_KNOWN):
        return _packed(ask, tag, known, _capabilities(site, ask.path))
    if ask.path == site.changes_path or "last_visit" in query:
        return _changes(site, db, known, ask, tag, query, max(now, known.stamp))
    if _not_modified_since(ask, known):
        return Answer(304, (("ETag", tag), ("Last-Modified", http_date(known.stamp))))
    return _packed(ask, tag, known, _sitemap(site, db, known, query))


def _parameters(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in parse_qsl(query[:4000], keep_blank_values=True, max_num_fields=None)[:50]:
        if name.lower() in found:
            raise Refusal(f"{name} is given twice: give it once")
        found[name.lower()] = value
    return found


def _is_same(ask: Ask, tag: str) -> bool:
    offered = (part.strip() for part in ask.headers.get("if-none-match", "").split(","))
    return any(part == "*" or part.removeprefix("W/") == tag.removeprefix("W/") for part in offered if part)


def _not_modified_since(ask: Ask, known: Facts) -> bool:
    """Tell a plain sitemap's reader that it is the same; a partial list here would look like mass deletion to it."""
    since = read_time(ask.headers.get("if-modified-since", ""))
    return "if-none-match" not in ask.headers and since is not None and known.stamp // 1000 <= since // 1000


def _changes(
    site: Site, db: Connection, known: Facts, ask: Ask, tag: str, query: Mapping[str, str], now: int
) -> Answer:
    wish = _wish(site, ask, query, now)
    page = changes(db, known, wish)
    if not page.entries and "last_visit" not in query and wish.since:
        return Answer(304, (("Last-Modified", http_date(page.until)),))
    about = xml.link("up", site.url(WELL_KNOWN)) + xml.period(wish.since, page.until)
    links = []
    if page.next:
        address = _next(site, ask, wish, page)
        about += xml.link("next", address)
        links.append(("Link", f'<{address}>; rel="next"'))
    return _packed(ask, tag, known, xml.urlset(site, about, page.entries), *links, modified=page.until)


def _wish(site: Site, ask: Ask, query: Mapping[str, str], now: int) -> Wish:
    place = read_place(query["after"]) if "after" in query else Wish(0).place
    if place is None:
        raise Refusal("after must be taken from the link to the next page, as it is")
    threshold = _number(query, "threshold", -1.0)
    limit = int(_number(query, "limit", site.page_size))
    if limit < 1:
        raise Refusal("limit is a whole number from 1 on")
    return Wish(_since(ask, query, now), threshold, min(limit, site.page_size), place)


def _since(ask: Ask, query: Mapping[str, str], now: int) -> int:
    if "last_visit" not in query:
        since = read_time(ask.headers.get("if-modified-since", ""))
        return since if since is not None and since <= now else 0  # RFC 9110: a date that cannot be is ignored
    since = read_time(query["last_visit"])
    if since is None:
        raise Refusal(f"LAST_VISIT is not a time: {query['last_visit'][:80]!r}; give {FORMS}")
    if since > now + SKEW:
        raise Refusal(f"LAST_VISIT lies in the future: here it is {w3c_exact(now)}; give a time before that")
    return since


def _number(query: Mapping[str, str], name: str, default: float) -> float:
    try:
        value = float(query.get(name, default))
    except ValueError:
        raise Refusal(f"{name} is not a number: {query[name][:80]!r}") from None
    if not math.isfinite(value):
        raise Refusal(f"{name} is not a number: {query[name][:80]!r}")
    return value


def _next(site: Site, ask: Ask, wish: Wish, page: Page) -> str:
    asked = {"LAST_VISIT": w3c_exact(wish.since), "limit": str(wish.limit), "after": str(page.next)}
    if wish.threshold >= 0:
        asked["threshold"] = repr(wish.threshold)
    return f"{site.url(ask.path)}?{urlencode(asked)}"


def _sitemap(site: Site, db: Connection, known: Facts, query: Mapping[str, str]) -> str:
    about = xml.link("up", site.url(WELL_KNOWN)) + xml.link("changes", site.url(site.changes_path))
    about += xml.described("resourcelist", at=w3c_exact(known.stamp))
    files = parts(db)
    if "part" not in query and len(files) > 1:
        return xml.sitemap_index(site, about, files)
    part = int(_number(query, "part", files[0][0] if files else 0))
    if "part" in query and part not in dict(files):
        raise Refusal(f"the sitemap has no part {part}: see {site.url(site.sitemap_path)}", 404)
    return xml.urlset(site, about, sitemap(db, known, part))


def _capabilities(site: Site, path: str) -> str:
    """Say where the lists are, in the two steps that ResourceSync asks for."""
    if path == WELL_KNOWN:
        about = xml.link("changes", site.url(site.changes_path)) + xml.described("description")
        return xml.capabilities(about, [(site.url(WELL_KNOWN + "/capabilities"), "capabilitylist")])
    if path != WELL_KNOWN + "/capabilities":
        raise Refusal("there is no such document here", 404)
    about = xml.link("up", site.url(WELL_KNOWN)) + xml.described("capabilitylist")
    lists = [(site.url(site.sitemap_path), "resourcelist"), (site.url(site.changes_path), "changelist")]
    return xml.capabilities(about, lists)


def _packed(
    ask: Ask, tag: str, known: Facts, document: str, *headers: tuple[str, str], modified: int | None = None
) -> Answer:
    body = document.encode()
    about = [("Content-Type", "application/xml; charset=utf-8"), ("Vary", "Accept-Encoding")]
    changed = known.stamp if modified is None else modified
    about += [("ETag", tag), ("Last-Modified", http_date(changed)), ("Cache-Control", "no-cache")]
    if _takes_gzip(ask.headers.get("accept-encoding", "")):
        body = gzip.compress(body, 6, mtime=0)
        about.append(("Content-Encoding", "gzip"))
    return Answer(200, (*about, *headers), body)


def _takes_gzip(header: str) -> bool:
    for part in header.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in ("gzip", "x-gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
