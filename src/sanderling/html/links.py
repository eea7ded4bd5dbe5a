"""What a page says about other pages and about itself: links, title, canonical, robots, refresh, feeds."""

import re
from collections.abc import Iterator

import ada_url
from msgspec import Struct
from msgspec.structs import replace

from sanderling.html.meta_refresh import refresh_target
from sanderling.html.parser import Document, Element, Namespace
from sanderling.html.scanned_page import Glance, Seen
from sanderling.html.tag_tree import place_of
from sanderling.html.text import flowing
from sanderling.http.content_type import mime_of

MAX_LINKS = 10_000  # of one page; the rest is counted, not kept
MAX_TITLE = 500
MAX_ANCHOR = 200

HEAD_TAGS = ("title", "meta", "link", "area", "iframe", "frame")  # of each apart: that search is native and fast
HEAD_TURNS = {tag: turn for turn, tag in enumerate(HEAD_TAGS)}
OUTWARD = "a[href]:not([href^='#'])"
TO_BASE = "a[href=''], a[href^='#']"  # which leads to where relative links start from
UNBUILT = "template, noscript"  # a browser that runs scripts builds no elements of what is inside
DRAWN = "svg a"  # of which older ones have their target in another attribute
UNTIL = re.compile(
    r"\bunavailable_after\s*:\s*((?:[a-z]{3,9},\s*)?[^,\n]{4,60})", re.IGNORECASE
).search  # commas in dates
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"})


class RawLink(Struct, frozen=True, gc=False):
    """A link as the page spells it, without its fragment."""

    href: str
    anchor: str = ""
    nofollow: bool = False
    place: str = ""  # the tags above it, where asked for


class Extract(Struct, frozen=True):
    """What one pass over the tree found; URLs as spelled, relative to `base`."""

    base: str
    links: list[RawLink]
    dropped: int = 0
    title: str = ""
    language: str = ""
    canonical: str = ""
    refresh: str = ""
    noindex: bool = False
    nofollow: bool = False
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    side: str = ""  # the file with its volatile parts
    until: str = ""  # when the page says it is over, as spelled
    encoding: str = "utf-8"  # in which the queries of its links are escaped


def extract(page: Document | Glance, url: str, places: bool = False, agent: str = "sanderling") -> Extract:
    """Read links and head of a page at `url`, as the agent of this name; the places of links only a tree knows."""
    if isinstance(page, Glance):
        return with_anchors(extract_head(page, url, agent), page, url)
    return _extract(page, url, _Head(agent.lower()), places)


def _extract(tree: Document, url: str, head: "_Head", places: bool) -> Extract:
    found: dict[str, RawLink] = {}
    for tag in HEAD_TAGS:
        for element in tree.find_all(tag):
            head.read(element, found)
    dropped = _anchors(tree, found, places)
    base = _base(url, _bases(tree)) if tree.find("base") is not None else url
    if base != url and (bare := tree.select_one(TO_BASE)) is not None and len(found) < MAX_LINKS:
        anchor = flowing(bare).strip()[:MAX_ANCHOR] or _picture(bare)
        found[""] = RawLink("", anchor, _is_nofollow(bare), place_of(bare) if places else "")
    root = tree.root
    language = (root.attr("lang") or "") if root is not None else ""
    return head.extract(base, list(found.values()), dropped, language, tree.encoding or "utf-8")


def extract_head(page: Glance, url: str, agent: str = "sanderling") -> Extract:
    """Read all but the links in the text of a page."""
    head, found = _Head(agent.lower()), dict[str, RawLink]()
    for element in sorted(page.told, key=_turn):
        head.read(element, found)
    base = _base(url, (one.href for one in page.told if one.tag == "base" and not one.is_unscripted))
    return head.extract(base, list(found.values()), 0, page.language, page.encoding)


def with_anchors(head: Extract, page: Glance, url: str) -> Extract:
    """Add the links in the text of a page."""
    found = {link.href: link for link in head.links}
    dropped = _seen_anchors(page, found)
    if page.bare is not None and head.base != url and len(found) < MAX_LINKS:
        rel, anchor = page.bare
        found[""] = RawLink("", anchor, _forbids(rel))
    return replace(head, links=list(found.values()), dropped=dropped)


def _turn(element: Seen) -> int:
    return HEAD_TURNS.get(element.tag, 0)


def _bases(tree: Document) -> Iterator[str]:
    for element in tree.find_all("base"):
        href = element.attr("href")
        if href is not None and element.namespace is Namespace.HTML and element.closest(UNBUILT) is None:
            yield href


def _base(url: str, hrefs: Iterator[str]) -> str:
    """Give the address relative links start from: the first base with one, unless it is nonsense (WHATWG)."""
    for href in hrefs:
        try:
            base = ada_url.join_url(url, href)
        except (ValueError, UnicodeEncodeError):
            return url
        return url if base.startswith(("data:", "javascript:")) else base
    return url


def _seen_anchors(page: Glance, found: dict[str, RawLink]) -> int:
    """Add the anchors as `_anchors` does."""
    dropped = 0
    for href, rel, anchor in page.links:
        known = found.get(href)
        if known is None and len(found) >= MAX_LINKS:
            dropped += 1
        elif known is None:
            found[href] = RawLink(href, anchor, rel != "" and _forbids(rel))
        elif known.nofollow or not known.anchor:
            found[href] = RawLink(href, known.anchor or anchor, known.nofollow and rel != "" and _forbids(rel))
    return dropped


def _anchors(tree: Document, found: dict[str, RawLink], places: bool) -> int:
    """Add the anchors, once per page they lead to; the first anchor text that says something stays."""
    dropped = 0
    elements = tree.select(OUTWARD)
    if drawn := tree.select(DRAWN):
        elements += [element for element in drawn if not element.attr("href")]
    for element in elements:
        href = element.attr("href") or (element.attr("xlink:href") if element.namespace is Namespace.SVG else "")
        if not href:
            continue
        if "#" in href:
            href = href[: href.index("#")]
        known = found.get(href)
        if known is None and len(found) >= MAX_LINKS:
            dropped += 1
        elif known is None or known.nofollow or not known.anchor:
            anchor = (known.anchor if known else "") or flowing(element).strip()[:MAX_ANCHOR] or _picture(element)
            nofollow = (known is None or known.nofollow) and _is_nofollow(element)
            found[href] = RawLink(href, anchor, nofollow, place_of(element) if places else "")
    return dropped


def _picture(element: Element) -> str:
    """The alternative text of a link that is an image."""
    image = element.find("img")
    return (image.attr("alt") or "").strip()[:MAX_ANCHOR] if image is not None else ""


def _is_nofollow(element: Element | Seen) -> bool:
    rel = element.attr("rel")
    return rel is not None and _forbids(rel)


def _forbids(rel: str) -> bool:
    return "nofollow" in rel.lower().split()


def _is_unscripted(element: Element | Seen) -> bool:
    """Say whether an element is for those without scripts."""
    return bool(element.is_unscripted) if isinstance(element, Seen) else element.closest("noscript") is not None


def _is_version(element: Element | Seen, rel: list[str]) -> bool:
    """Say whether a link leads to the page in another language or for another device."""
    return "stylesheet" not in rel and bool(element.attr("hreflang") or element.attr("media"))


def robots_directives(content: str, agent: str = "sanderling") -> Iterator[str]:
    """Read one robots meta or X-Robots-Tag value; directives for other agents are passed over."""
    for part in content.lower().split(","):
        name, colon, value = part.partition(":")
        if not colon or name.strip() in ("*", "robots", agent):
            yield from (value if colon else name).replace(";", " ").split()


class _Head:
    """Collects what the few head-like elements say."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self.title = self.canonical = ""
        self.refresh = self.until = ""
        self.noindex = self.nofollow = False
        self.feeds: list[str] = []
        self.sitemaps: list[str] = []
        self.side = ""

    def extract(self, base: str, links: list[RawLink], dropped: int, language: str, encoding: str) -> Extract:
        """Say all that was found."""
        return Extract(
            base,
            links,
            dropped,
            self.title,
            language[:20],
            self.canonical,
            self.refresh,
            self.noindex,
            self.nofollow,
            tuple(self.feeds),
            tuple(self.sitemaps),
            self.side,
            self.until,
            encoding,
        )

    def read(self, element: Element | Seen, found: dict[str, RawLink]) -> None:
        match element.tag:
            case "title":
                self.title = self.title or " ".join(element.text.split())[:MAX_TITLE]
            case "meta":
                self._meta(element)
            case "link":
                self._link(element, found)
            case "area" | "iframe" | "frame" as tag:
                href = element.attr("href" if tag == "area" else "src")
                if href and href[0] != "#" and len(found) < MAX_LINKS:
                    found.setdefault(href, RawLink(href, element.attr("alt") or "", _is_nofollow(element)))

    def _meta(self, element: Element | Seen) -> None:
        if (element.attr("http-equiv") or "").lower() == "refresh" and not _is_unscripted(element):
            self.refresh = self.refresh or refresh_target(element.attr("content") or "")
        if (element.attr("name") or "").strip().lower() in ("robots", self._agent):
            content = element.attr("content") or ""
            directives = set(robots_directives(content, self._agent))
            self.until = self.until or (found[1] if (found := UNTIL(content)) else "")
            self.noindex |= bool(directives & {"noindex", "none"})
            self.nofollow |= bool(directives & {"nofollow", "none"})

    def _link(self, element: Element | Seen, found: dict[str, RawLink]) -> None:
        href = element.attr("href")
        rel = (element.attr("rel") or "").lower().split()
        if not href or not rel:
            return
        if "canonical" in rel:
            self.canonical = self.canonical or href
        elif "sitemap" in rel:
            self.sitemaps.append(href)
        elif "tvi" in rel:
            self.side = self.side or href
        elif "feed" in rel or ("alternate" in rel and mime_of(element.attr("type") or "") in FEED_TYPES):
            self.feeds.append(href)
        elif len(found) < MAX_LINKS and (
            "next" in rel or "prev" in rel or ("alternate" in rel and _is_version(element, rel))
        ):
            found.setdefault(href, RawLink(href))
