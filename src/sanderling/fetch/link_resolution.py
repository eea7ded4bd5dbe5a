"""Where a page leads: its links, resolved, in one spelling, each target once."""

from collections.abc import Callable, Iterable
from itertools import islice

from sanderling.html.links import Extract, RawLink
from sanderling.html.parser import Document
from sanderling.models import Link, Pointer, Role, Url
from sanderling.urls.normalize import beginning, resolve, resolve_all

MAX_POINTERS = 20  # sitemaps and feeds of one page
MAX_LONG = 20  # links of one page that are too long to be followed; their beginnings are told
MAX_USES = 100  # images, scripts and style sheets of one page

Promise = Callable[[RawLink], float]
"""What the words of a link promise, in a focused crawl."""


def links_of(found: Extract, nofollow: bool, promise: Promise | None = None) -> tuple[Link, ...]:
    """Resolve the links of a page; a target linked twice is followed if one of the links may be."""
    links: dict[Url, Link] = {}
    if found.refresh and (target := resolve(found.base, found.refresh, found.encoding)):
        links[target.url] = Link(target.url, target.wire_if_different, "", nofollow)
    spellings = resolve_all(found.base, [raw.href for raw in found.links], found.encoding)
    unspelled: list[str] = []
    for raw, spelling in zip(found.links, spellings, strict=True):
        if spelling is None:
            unspelled.append(raw.href)
            continue
        known = links.get(spelling.url)
        if known is None:
            links[spelling.url] = Link(
                spelling.url,
                spelling.wire_if_different,
                raw.anchor,
                nofollow or raw.nofollow,
                promise(raw) if promise else 0.0,
                raw.place,
            )
        elif known.nofollow and not (nofollow or raw.nofollow):
            links[spelling.url] = Link(
                known.url, known.wire, known.anchor or raw.anchor, False, known.promise, known.place
            )
    if unspelled:
        links |= {url: Link(url, nofollow=True) for url in too_long(found.base, unspelled)}
    return tuple(links.values())


def too_long(base: str, raws: Iterable[str]) -> list[Url]:
    """The beginnings of links that are too long, a few of them; a link may be none for other reasons."""
    return list(islice((url for raw in raws if (url := beginning(base, raw)) is not None), MAX_LONG))


def with_leads(links: tuple[Link, ...], leads: tuple[Link, ...], nofollow: bool) -> tuple[Link, ...]:
    """Add the links of a page's head to those of the page."""
    if not leads:
        return links
    known = {link.url for link in links}
    return links + tuple(Link(lead.url, lead.wire, nofollow=nofollow) for lead in leads if lead.url not in known)


def pointers_of(found: Extract) -> tuple[Pointer, ...]:
    """Resolve the sitemaps, the feeds and the side file a page names."""
    named = [(found.side, Role.SIDE)] if found.side else []
    named += [(href, Role.SITEMAP) for href in found.sitemaps] + [(href, Role.FEED) for href in found.feeds]
    return tuple(
        Pointer(spelling.url, spelling.wire_if_different, role)
        for href, role in named[:MAX_POINTERS]
        if (spelling := resolve(found.base, href, found.encoding)) is not None
    )


def uses_of(tree: Document, base: str) -> tuple[Pointer, ...]:
    """Resolve the images, scripts and style sheets a page uses, each once."""
    from sanderling.html.subresources import references  # few crawls want them

    spellings = (resolve(base, href) for href in islice(references(tree), MAX_USES))
    found = {spelling.url: spelling.wire_if_different for spelling in spellings if spelling is not None}
    return tuple(Pointer(url, wire, Role.RESOURCE) for url, wire in found.items())
