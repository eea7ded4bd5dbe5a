"""Links in response headers: Link (RFC 8288) and Refresh."""

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

MAX_HEADER_LENGTH = 20_000
MAX_TARGETS = 100
PAGE_RELATIONS = frozenset({"next", "prev", "previous"})

_TARGET = re.compile(r"<([^<>]*+)>").search
_PARAMETER = re.compile(
    r'[ \t]*+;[ \t]*+([^ \t=;,]*+)[ \t]*+(?:=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"?|([^;,]*+)))?+', re.DOTALL
).match
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class LinkHeaderTarget(Struct, frozen=True):
    href: str
    parameters: dict[str, str]  # the first of each name

    @property
    def relations(self) -> frozenset[str]:
        """Return the lowercase relation types; empty if the link belongs to another page (`anchor`)."""
        return frozenset() if "anchor" in self.parameters else frozenset(self.parameters.get("rel", "").lower().split())


class HeaderLinks(Struct, frozen=True):
    """Resolved links of the response headers."""

    canonical: Url = Url("")
    links: tuple[Link, ...] = ()
    file_refs: tuple[FileRef, ...] = ()


def parse_link_header(header: str) -> Iterator[LinkHeaderTarget]:
    """Yield the targets of a Link header, skipping malformed parts."""
    header = header[:MAX_HEADER_LENGTH]
    at, count = 0, 0
    while count < MAX_TARGETS and (match := _TARGET(header, at)):
        at, parameters = match.end(), dict[str, str]()
        while parameter := _PARAMETER(header, at):
            at = parameter.end()
            name, quoted, plain = parameter.groups()
            parameters.setdefault(name.lower(), _ESCAPE.sub(r"\1", quoted or "") or (plain or "").strip())
        count += 1
        yield LinkHeaderTarget(match[1].strip(), parameters)


def extract_header_links(url: str, fields: HeaderFields, nofollow: bool = False) -> HeaderLinks:
    targets = list(parse_link_header(decode_header_url(fields.get(b"link", b""))))
    canonicals = [target.href for target in targets if "canonical" in target.relations]
    canonical = resolve_url(url, canonicals[0]) if canonicals else None
    hrefs = [parse_refresh_target(decode_header_url(fields.get(b"refresh", b"")))]
    hrefs += [target.href for target in targets if _is_page_link(target)]
    links = (resolve_url(url, href) for href in hrefs if href)
    return HeaderLinks(
        canonical.url if canonical else Url(""),
        tuple(Link(link.url, link.distinct_request_url, nofollow=nofollow) for link in links if link is not None),
        tuple(file_ref for target in targets if (file_ref := _resolve_file_ref(url, target)) is not None),
    )


def _is_page_link(target: LinkHeaderTarget) -> bool:
    relations = target.relations
    return bool(relations & PAGE_RELATIONS) or ("alternate" in relations and "hreflang" in target.parameters)


def _resolve_file_ref(url: str, target: LinkHeaderTarget) -> FileRef | None:
    is_feed = "alternate" in target.relations and parse_mime_type(target.parameters.get("type", "")) in FEED_TYPES
    if not is_feed and "sitemap" not in target.relations:
        return None
    resolved = resolve_url(url, target.href)
    return (
        FileRef(resolved.url, resolved.distinct_request_url, UrlRole.FEED if is_feed else UrlRole.SITEMAP)
        if resolved
        else None
    )
