"""Where a page leads: its links, resolved, in one spelling, each target once."""

from collections.abc import Callable, Iterable
from itertools import islice

from sanderling.html.links import PageMetadata, RawLink
from sanderling.html.parser import Document
from sanderling.models import FileRef, Link, Url, UrlRole
from sanderling.urls.normalize import resolve_url, resolve_urls, truncate_long_url

MAX_FILE_REFS = 20  # sitemaps and feeds of one page
MAX_LONG_LINKS = 20  # links of one page that are too long to be followed; their beginnings are told
MAX_RESOURCES = 100  # images, scripts and style sheets of one page

LinkScorer = Callable[[RawLink], float]
"""What the words of a link promise, in a focused crawl."""


def resolve_links(extracted: PageMetadata, nofollow: bool, score_link: LinkScorer | None = None) -> tuple[Link, ...]:
    """Resolve the links of a page; a target linked twice is followed if one of the links may be."""
    links: dict[Url, Link] = {}
    if extracted.refresh_target and (
        target := resolve_url(extracted.base_url, extracted.refresh_target, extracted.encoding)
    ):
        links[target.url] = Link(target.url, target.distinct_request_url, "", nofollow)
    spellings = resolve_urls(extracted.base_url, [raw.href for raw in extracted.links], extracted.encoding)
    unspelled: list[str] = []
    for raw, spelling in zip(extracted.links, spellings, strict=True):
        if spelling is None:
            unspelled.append(raw.href)
            continue
        known = links.get(spelling.url)
        if known is None:
            links[spelling.url] = Link(
                spelling.url,
                spelling.distinct_request_url,
                raw.anchor,
                nofollow or raw.nofollow,
                score_link(raw) if score_link else 0.0,
                raw.tag_path,
            )
        elif known.nofollow and not (nofollow or raw.nofollow):
            links[spelling.url] = Link(
                known.url, known.request_url, known.anchor or raw.anchor, False, known.topic_score, known.tag_path
            )
    if unspelled:
        links |= {url: Link(url, nofollow=True) for url in truncate_long_links(extracted.base_url, unspelled)}
    return tuple(links.values())


def truncate_long_links(base: str, hrefs: Iterable[str]) -> list[Url]:
    """The beginnings of links that are too long, a few of them; a link may be none for other reasons."""
    return list(islice((url for raw in hrefs if (url := truncate_long_url(base, raw)) is not None), MAX_LONG_LINKS))


def add_header_links(links: tuple[Link, ...], header_links: tuple[Link, ...], nofollow: bool) -> tuple[Link, ...]:
    """Add the links of a page's head to those of the page."""
    if not header_links:
        return links
    known = {link.url for link in links}
    return links + tuple(
        Link(lead.url, lead.request_url, nofollow=nofollow) for lead in header_links if lead.url not in known
    )


def resolve_file_refs(extracted: PageMetadata) -> tuple[FileRef, ...]:
    """Resolve the sitemaps, the feeds and the side file a page names."""
    named = [(extracted.tvi_url, UrlRole.TVI_FILE)] if extracted.tvi_url else []
    named += [(href, UrlRole.SITEMAP) for href in extracted.sitemaps] + [
        (href, UrlRole.FEED) for href in extracted.feeds
    ]
    return tuple(
        FileRef(spelling.url, spelling.distinct_request_url, role)
        for href, role in named[:MAX_FILE_REFS]
        if (spelling := resolve_url(extracted.base_url, href, extracted.encoding)) is not None
    )


def resolve_resources(tree: Document, base: str) -> tuple[FileRef, ...]:
    """Resolve the images, scripts and style sheets a page uses, each once."""
    from sanderling.html.subresources import find_subresources  # few crawls want them

    spellings = (resolve_url(base, href) for href in islice(find_subresources(tree), MAX_RESOURCES))
    found = {spelling.url: spelling.distinct_request_url for spelling in spellings if spelling is not None}
    return tuple(FileRef(url, wire, UrlRole.RESOURCE) for url, wire in found.items())
