"""Resolve the links of a page: normalized, each target once."""

from collections.abc import Callable, Iterable
from itertools import islice

from sanderling.html.links import PageMetadata, RawLink
from sanderling.html.parser import Document
from sanderling.models import FileRef, Link, Url, UrlRole
from sanderling.urls.normalize import resolve_url, resolve_urls, truncate_long_url

MAX_FILE_REFS = 20  # sitemaps and feeds per page
MAX_LONG_LINKS = 20  # reported per page, truncated
MAX_REQUISITES = 1_000  # per page, style sheet, or frame

LinkScorer = Callable[[RawLink], float]
"""Return the topic score of a link, in a focused crawl."""


def resolve_links(extracted: PageMetadata, nofollow: bool, score_link: LinkScorer | None = None) -> tuple[Link, ...]:
    """Resolve links; a target is nofollow only if all links to it are."""
    links: dict[Url, Link] = {}
    if extracted.refresh_target and (
        target := resolve_url(extracted.base_url, extracted.refresh_target, extracted.encoding)
    ):
        links[target.url] = Link(target.url, target.distinct_request_url, "", nofollow)
    resolved_urls = resolve_urls(extracted.base_url, [raw.href for raw in extracted.links], extracted.encoding)
    unresolved: list[str] = []
    for raw, resolved in zip(extracted.links, resolved_urls, strict=True):
        if resolved is None:
            unresolved.append(raw.href)
            continue
        known = links.get(resolved.url)
        if known is None:
            links[resolved.url] = Link(
                resolved.url,
                resolved.distinct_request_url,
                raw.anchor,
                nofollow or raw.nofollow,
                score_link(raw) if score_link else 0.0,
                raw.tag_path,
            )
        elif known.nofollow and not (nofollow or raw.nofollow):
            links[resolved.url] = Link(
                known.url, known.request_url, known.anchor or raw.anchor, False, known.topic_score, known.tag_path
            )
    if unresolved:
        links |= {url: Link(url, nofollow=True) for url in truncate_long_links(extracted.base_url, unresolved)}
    return tuple(links.values())


def truncate_long_links(base: str, hrefs: Iterable[str]) -> list[Url]:
    """Return truncated URLs for links that are too long."""
    return list(islice((url for raw in hrefs if (url := truncate_long_url(base, raw)) is not None), MAX_LONG_LINKS))


def add_header_links(links: tuple[Link, ...], header_links: tuple[Link, ...], nofollow: bool) -> tuple[Link, ...]:
    """Append links from response headers that the page does not contain."""
    if not header_links:
        return links
    known_urls = {link.url for link in links}
    return links + tuple(
        Link(link.url, link.request_url, nofollow=nofollow) for link in header_links if link.url not in known_urls
    )


def resolve_file_refs(extracted: PageMetadata) -> tuple[FileRef, ...]:
    """Resolve the sitemaps, feeds and TVI file that a page names."""
    refs = [(extracted.tvi_url, UrlRole.TVI_FILE)] if extracted.tvi_url else []
    refs += [(href, UrlRole.SITEMAP) for href in extracted.sitemaps] + [
        (href, UrlRole.FEED) for href in extracted.feeds
    ]
    return tuple(
        FileRef(resolved.url, resolved.distinct_request_url, role)
        for href, role in refs[:MAX_FILE_REFS]
        if (resolved := resolve_url(extracted.base_url, href, extracted.encoding)) is not None
    )


def resolve_page_requisites(
    tree: Document, base: str, encoding: str, *, needs_icon: bool = True
) -> tuple[FileRef, ...]:
    """Resolve what a document needs to be shown. `needs_icon`: it is not shown in a frame."""
    from sanderling.html.page_requisites import find_page_requisites  # rarely needed

    return resolve_requisites(find_page_requisites(tree, needs_icon=needs_icon), base, encoding)


def resolve_requisites(urls: Iterable[str], base: str, encoding: str = "utf-8") -> tuple[FileRef, ...]:
    """Resolve the URLs of page requisites, each once."""
    distinct = list(islice(dict.fromkeys(urls), MAX_REQUISITES))
    resolved_urls = (resolve_url(base, url, encoding) for url in distinct)
    found = {resolved.url: resolved.distinct_request_url for resolved in resolved_urls if resolved is not None}
    return tuple(FileRef(url, request_url, UrlRole.REQUISITE) for url, request_url in found.items())
