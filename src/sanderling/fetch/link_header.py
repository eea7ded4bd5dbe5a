"""Where an answer leads before its body is read: the headers Link (RFC 8288) and Refresh."""

import re
from collections.abc import Iterator

from msgspec import Struct

from sanderling.fetch.response import spelled
from sanderling.html.links import FEED_TYPES
from sanderling.html.meta_refresh import refresh_target
from sanderling.http.content_type import mime_of
from sanderling.http.head import Fields
from sanderling.models import Link, Pointer, Role, Url
from sanderling.urls.normalize import resolve

LENGTH_LIMIT = 20_000  # characters of one header
TARGETS_LIMIT = 100  # of one header
PAGES = frozenset({"next", "prev", "previous"})

_TARGET = re.compile(r"<([^<>]*+)>").search
_PARAMETER = re.compile(
    r'[ \t]*+;[ \t]*+([^ \t=;,]*+)[ \t]*+(?:=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"?|([^;,]*+)))?+', re.DOTALL
).match
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Target(Struct, frozen=True):
    """One link of a header, as spelled."""

    href: str
    words: dict[str, str]  # its parameters, of each name the first

    @property
    def relations(self) -> frozenset[str]:
        """What it is to the page; nothing if it is one of another page's links."""
        return frozenset() if "anchor" in self.words else frozenset(self.words.get("rel", "").lower().split())


class Leads(Struct, frozen=True):
    """What the head says of other pages, resolved."""

    canonical: Url = Url("")
    links: tuple[Link, ...] = ()
    pointers: tuple[Pointer, ...] = ()


def read_link(header: str) -> Iterator[Target]:
    """Read a Link header, as far as it makes sense."""
    header = header[:LENGTH_LIMIT]
    at, count = 0, 0
    while count < TARGETS_LIMIT and (found := _TARGET(header, at)):
        at, words = found.end(), dict[str, str]()
        while parameter := _PARAMETER(header, at):
            at = parameter.end()
            name, quoted, plain = parameter.groups()
            words.setdefault(name.lower(), _ESCAPE.sub(r"\1", quoted or "") or (plain or "").strip())
        count += 1
        yield Target(found[1].strip(), words)


def leads_of(url: str, fields: Fields, nofollow: bool = False) -> Leads:
    """Resolve what the headers of a page say of others."""
    targets = list(read_link(spelled(fields.get(b"link", b""))))
    named = [target.href for target in targets if "canonical" in target.relations]
    canonical = resolve(url, named[0]) if named else None
    pages = [refresh_target(spelled(fields.get(b"refresh", b"")))]
    pages += [target.href for target in targets if _is_page(target)]
    links = (resolve(url, href) for href in pages if href)
    return Leads(
        canonical.url if canonical else Url(""),
        tuple(Link(link.url, link.wire_if_different, nofollow=nofollow) for link in links if link is not None),
        tuple(pointer for target in targets if (pointer := _pointer(url, target)) is not None),
    )


def _is_page(target: Target) -> bool:
    relations = target.relations
    return bool(relations & PAGES) or ("alternate" in relations and "hreflang" in target.words)


def _pointer(url: str, target: Target) -> Pointer | None:
    feed = "alternate" in target.relations and mime_of(target.words.get("type", "")) in FEED_TYPES
    if not feed and "sitemap" not in target.relations:
        return None
    spelling = resolve(url, target.href)
    return Pointer(spelling.url, spelling.wire_if_different, Role.FEED if feed else Role.SITEMAP) if spelling else None
