"""Where an answer leads before its body is read: the headers Link (RFC 8288) and Refresh."""

import re
from collections.abc import Iterator

from msgspec import Struct

from sanderling.fetch.response import decode_header_url
from sanderling.html.links import FEED_TYPES
from sanderling.html.meta_refresh import parse_refresh_target
from sanderling.http.content_type import parse_mime_type
from sanderling.http.head import HeaderFields
from sanderling.models import FileRef, Link, Url, UrlRole
from sanderling.urls.normalize import resolve_url

MAX_HEADER_LENGTH = 20_000  # characters of one header
MAX_TARGETS = 100  # of one header
PAGE_RELATIONS = frozenset({"next", "prev", "previous"})

_TARGET = re.compile(r"<([^<>]*+)>").search
_PARAMETER = re.compile(
    r'[ \t]*+;[ \t]*+([^ \t=;,]*+)[ \t]*+(?:=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"?|([^;,]*+)))?+', re.DOTALL
).match
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class LinkHeaderTarget(Struct, frozen=True):
    """One link of a header, as spelled."""

    href: str
    parameters: dict[str, str]  # its parameters, of each name the first

    @property
    def relations(self) -> frozenset[str]:
        """What it is to the page; nothing if it is one of another page's links."""
        return frozenset() if "anchor" in self.parameters else frozenset(self.parameters.get("rel", "").lower().split())


class HeaderLinks(Struct, frozen=True):
    """What the head says of other pages, resolved."""

    canonical: Url = Url("")
    links: tuple[Link, ...] = ()
    file_refs: tuple[FileRef, ...] = ()


def parse_link_header(header: str) -> Iterator[LinkHeaderTarget]:
    """Read a Link header, as far as it makes sense."""
    header = header[:MAX_HEADER_LENGTH]
    at, count = 0, 0
    while count < MAX_TARGETS and (found := _TARGET(header, at)):
        at, words = found.end(), dict[str, str]()
        while parameter := _PARAMETER(header, at):
            at = parameter.end()
            name, quoted, plain = parameter.groups()
            words.setdefault(name.lower(), _ESCAPE.sub(r"\1", quoted or "") or (plain or "").strip())
        count += 1
        yield LinkHeaderTarget(found[1].strip(), words)


def extract_header_links(url: str, fields: HeaderFields, nofollow: bool = False) -> HeaderLinks:
    """Resolve what the headers of a page say of others."""
    targets = list(parse_link_header(decode_header_url(fields.get(b"link", b""))))
    named = [target.href for target in targets if "canonical" in target.relations]
    canonical = resolve_url(url, named[0]) if named else None
    pages = [parse_refresh_target(decode_header_url(fields.get(b"refresh", b"")))]
    pages += [target.href for target in targets if _is_page_link(target)]
    links = (resolve_url(url, href) for href in pages if href)
    return HeaderLinks(
        canonical.url if canonical else Url(""),
        tuple(Link(link.url, link.distinct_request_url, nofollow=nofollow) for link in links if link is not None),
        tuple(pointer for target in targets if (pointer := _resolve_file_ref(url, target)) is not None),
    )


def _is_page_link(target: LinkHeaderTarget) -> bool:
    relations = target.relations
    return bool(relations & PAGE_RELATIONS) or ("alternate" in relations and "hreflang" in target.parameters)


def _resolve_file_ref(url: str, target: LinkHeaderTarget) -> FileRef | None:
    feed = "alternate" in target.relations and parse_mime_type(target.parameters.get("type", "")) in FEED_TYPES
    if not feed and "sitemap" not in target.relations:
        return None
    spelling = resolve_url(url, target.href)
    return (
        FileRef(spelling.url, spelling.distinct_request_url, UrlRole.FEED if feed else UrlRole.SITEMAP)
        if spelling
        else None
    )
