"""Extract links and metadata of a page, from a parsed tree or the result of the fast scan."""

import re
from collections.abc import Iterator

import ada_url
from msgspec import Struct
from msgspec.structs import replace

from sanderling.html.meta_refresh import parse_refresh_target
from sanderling.html.native_tables import MAX_ANCHOR, ScannedElement
from sanderling.html.parser import Document, Element, Namespace
from sanderling.html.scanned_page import ScanResult
from sanderling.html.tag_tree import get_tag_path
from sanderling.html.text import get_single_line_text
from sanderling.http.content_type import parse_mime_type

MAX_LINKS = 10_000  # per page; further links are only counted
MAX_TITLE = 500

HEAD_TAGS = ("title", "meta", "link", "area", "iframe", "frame")  # searched one tag at a time: a native, fast lookup
HEAD_TAG_ORDER = {tag: order for order, tag in enumerate(HEAD_TAGS)}
OUTGOING_LINKS = "a[href]:not([href^='#'])"
SAME_PAGE_LINKS = "a[href=''], a[href^='#']"  # with a <base>, they lead to the base URL
INERT_ELEMENTS = "template, noscript"  # a browser with scripting builds no elements inside
SVG_LINKS = "svg a"  # SVG 1.1 uses xlink:href
search_unavailable_after = re.compile(
    r"\bunavailable_after\s*:\s*((?:[a-z]{3,9},\s*)?[^,\n]{4,60})", re.IGNORECASE
).search  # a date may contain a comma after the weekday
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"})


class RawLink(Struct, frozen=True, gc=False):
    """A link as written, without its fragment."""

    href: str
    anchor: str = ""
    nofollow: bool = False
    tag_path: str = ""  # tags above the link; "" unless requested


class PageMetadata(Struct, frozen=True):
    """Links and metadata; URLs are as written, relative to `base_url`."""

    base_url: str
    links: list[RawLink]
    dropped_count: int = 0
    title: str = ""
    language: str = ""
    canonical: str = ""
    refresh_target: str = ""
    noindex: bool = False
    nofollow: bool = False
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    tvi_url: str = ""  # list of the volatile parts of the site (TVI)
    unavailable_after: str = ""  # robots directive, as written
    encoding: str = "utf-8"  # of the page; query strings of its links are percent-encoded in it


def extract_metadata(
    page: Document | ScanResult, url: str, with_tag_paths: bool = False, agent: str = "sanderling"
) -> PageMetadata:
    """Extract links and metadata, with the robots directives for `agent`."""
    if isinstance(page, ScanResult):
        return add_anchor_links(extract_head(page, url, agent), page, url)
    return _extract_from_tree(page, url, _HeadReader(agent.lower()), with_tag_paths)


def _extract_from_tree(tree: Document, url: str, head: "_HeadReader", with_tag_paths: bool) -> PageMetadata:
    links: dict[str, RawLink] = {}
    for tag in HEAD_TAGS:
        for element in tree.find_all(tag):
            head.read_element(element, links)
    dropped_count = _add_anchors(tree, links, with_tag_paths)
    base = _resolve_base(url, _find_base_hrefs(tree)) if tree.find("base") is not None else url
    if base != url and (same_page := tree.select_one(SAME_PAGE_LINKS)) is not None and len(links) < MAX_LINKS:
        anchor = get_single_line_text(same_page).strip()[:MAX_ANCHOR] or _get_image_alt(same_page)
        links[""] = RawLink("", anchor, _is_nofollow(same_page), get_tag_path(same_page) if with_tag_paths else "")
    root = tree.root
    language = (root.attr("lang") or "") if root is not None else ""
    return head.build_metadata(base, list(links.values()), dropped_count, language, tree.encoding or "utf-8")


def extract_head(page: ScanResult, url: str, agent: str = "sanderling") -> PageMetadata:
    """Extract everything except the anchor links."""
    head, links = _HeadReader(agent.lower()), dict[str, RawLink]()
    for element in sorted(page.elements, key=_get_head_order):
        head.read_element(element, links)
    base = _resolve_base(
        url, (element.href for element in page.elements if element.tag == "base" and not element.is_in_noscript)
    )
    return head.build_metadata(base, list(links.values()), 0, page.language, page.encoding)


def add_anchor_links(head: PageMetadata, page: ScanResult, url: str) -> PageMetadata:
    links = {link.href: link for link in head.links}
    dropped_count = _add_scanned_anchors(page, links)
    if page.same_page_link is not None and head.base_url != url and len(links) < MAX_LINKS:
        rel, anchor = page.same_page_link
        links[""] = RawLink("", anchor, _has_nofollow(rel))
    return replace(head, links=list(links.values()), dropped_count=dropped_count)


def _get_head_order(element: ScannedElement) -> int:
    return HEAD_TAG_ORDER.get(element.tag, 0)


def _find_base_hrefs(tree: Document) -> Iterator[str]:
    for element in tree.find_all("base"):
        href = element.attr("href")
        if href is not None and element.namespace is Namespace.HTML and element.closest(INERT_ELEMENTS) is None:
            yield href


def _resolve_base(url: str, hrefs: Iterator[str]) -> str:
    """Resolve the first base href (WHATWG); an invalid, `data:`, or `javascript:` base is ignored."""
    for href in hrefs:
        try:
            base = ada_url.join_url(url, href)
        except (ValueError, UnicodeEncodeError):
            return url
        return url if base.startswith(("data:", "javascript:")) else base
    return url


def _add_scanned_anchors(page: ScanResult, links: dict[str, RawLink]) -> int:
    dropped = 0
    for href, rel, anchor in page.links:
        known = links.get(href)
        if known is None and len(links) >= MAX_LINKS:
            dropped += 1
        elif known is None:
            links[href] = RawLink(href, anchor, rel != "" and _has_nofollow(rel))
        elif known.nofollow or not known.anchor:
            links[href] = RawLink(href, known.anchor or anchor, known.nofollow and rel != "" and _has_nofollow(rel))
    return dropped


def _add_anchors(tree: Document, links: dict[str, RawLink], with_tag_paths: bool) -> int:
    """Add targets with their first non-empty text; return the number of dropped links."""
    dropped = 0
    elements = tree.select(OUTGOING_LINKS)
    if svg_links := tree.select(SVG_LINKS):
        elements += [element for element in svg_links if not element.attr("href")]
    for element in elements:
        href = element.attr("href") or (element.attr("xlink:href") if element.namespace is Namespace.SVG else "")
        if not href:
            continue
        if "#" in href:
            href = href[: href.index("#")]
        known = links.get(href)
        if known is None and len(links) >= MAX_LINKS:
            dropped += 1
        elif known is None or known.nofollow or not known.anchor:
            anchor = (
                (known.anchor if known else "")
                or get_single_line_text(element).strip()[:MAX_ANCHOR]
                or _get_image_alt(element)
            )
            nofollow = (known is None or known.nofollow) and _is_nofollow(element)
            links[href] = RawLink(href, anchor, nofollow, get_tag_path(element) if with_tag_paths else "")
    return dropped


def _get_image_alt(element: Element) -> str:
    image = element.find("img")
    return (image.attr("alt") or "").strip()[:MAX_ANCHOR] if image is not None else ""


def _is_nofollow(element: Element | ScannedElement) -> bool:
    rel = element.attr("rel")
    return rel is not None and _has_nofollow(rel)


def _has_nofollow(rel: str) -> bool:
    return "nofollow" in rel.lower().split()


def _is_in_noscript(element: Element | ScannedElement) -> bool:
    return (
        bool(element.is_in_noscript) if isinstance(element, ScannedElement) else element.closest("noscript") is not None
    )


def _is_alternate_version(element: Element | ScannedElement, rel: list[str]) -> bool:
    """Return whether a link leads to the page in another language or for another device."""
    return "stylesheet" not in rel and bool(element.attr("hreflang") or element.attr("media"))


def parse_robots_directives(content: str, agent: str = "sanderling") -> Iterator[str]:
    """Yield the directives that apply to `agent` or to all agents."""
    for part in content.lower().split(","):
        name, colon, value = part.partition(":")
        if not colon or name.strip() in ("*", "robots", agent):
            yield from (value if colon else name).replace(";", " ").split()


class _HeadReader:
    """Collects metadata from head elements, and links from `area` and frames."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self.title = self.canonical = ""
        self.refresh_target = self.unavailable_after = ""
        self.noindex = self.nofollow = False
        self.feeds: list[str] = []
        self.sitemaps: list[str] = []
        self.tvi_url = ""

    def build_metadata(
        self, base_url: str, links: list[RawLink], dropped_count: int, language: str, encoding: str
    ) -> PageMetadata:
        return PageMetadata(
            base_url,
            links,
            dropped_count,
            self.title,
            language[:20],
            self.canonical,
            self.refresh_target,
            self.noindex,
            self.nofollow,
            tuple(self.feeds),
            tuple(self.sitemaps),
            self.tvi_url,
            self.unavailable_after,
            encoding,
        )

    def read_element(self, element: Element | ScannedElement, links: dict[str, RawLink]) -> None:
        match element.tag:
            case "title":
                self.title = self.title or " ".join(element.text.split())[:MAX_TITLE]
            case "meta":
                self._read_meta(element)
            case "link":
                self._read_link(element, links)
            case "area" | "iframe" | "frame" as tag:
                href = element.attr("href" if tag == "area" else "src")
                if href and href[0] != "#" and len(links) < MAX_LINKS:
                    links.setdefault(href, RawLink(href, element.attr("alt") or "", _is_nofollow(element)))

    def _read_meta(self, element: Element | ScannedElement) -> None:
        if (element.attr("http-equiv") or "").lower() == "refresh" and not _is_in_noscript(element):
            self.refresh_target = self.refresh_target or parse_refresh_target(element.attr("content") or "")
        if (element.attr("name") or "").strip().lower() in ("robots", self._agent):
            content = element.attr("content") or ""
            directives = set(parse_robots_directives(content, self._agent))
            self.unavailable_after = self.unavailable_after or (
                found[1] if (found := search_unavailable_after(content)) else ""
            )
            self.noindex |= bool(directives & {"noindex", "none"})
            self.nofollow |= bool(directives & {"nofollow", "none"})

    def _read_link(self, element: Element | ScannedElement, links: dict[str, RawLink]) -> None:
        href = element.attr("href")
        rel = (element.attr("rel") or "").lower().split()
        if not href or not rel:
            return
        if "canonical" in rel:
            self.canonical = self.canonical or href
        elif "sitemap" in rel:
            self.sitemaps.append(href)
        elif "tvi" in rel:
            self.tvi_url = self.tvi_url or href
        elif "feed" in rel or ("alternate" in rel and parse_mime_type(element.attr("type") or "") in FEED_TYPES):
            self.feeds.append(href)
        elif len(links) < MAX_LINKS and (
            "next" in rel or "prev" in rel or ("alternate" in rel and _is_alternate_version(element, rel))
        ):
            links.setdefault(href, RawLink(href))
