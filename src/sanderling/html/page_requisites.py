"""Find the page requisites of a document: everything that a browser loads to show it."""

import json
import re
from collections.abc import Callable, Iterator

from sanderling.html.css_urls import find_css_urls
from sanderling.html.parser import Document, Element, parse_html

SOURCE_ATTRIBUTES = {
    "audio": ("src",), "embed": ("src",), "frame": ("src",), "iframe": ("src",), "image": ("href", "xlink:href"),
    "img": ("src", "data-src"), "object": ("data",), "script": ("src", "xlink:href"), "source": ("src",),
    "track": ("src",), "use": ("href", "xlink:href"), "feimage": ("href", "xlink:href"), "video": ("src", "poster"),
    "body": ("background",), "table": ("background",), "td": ("background",), "th": ("background",),
    "tr": ("background",),
}  # fmt: skip
"""Attributes that name one file. Scripts move `data-src` to `src` when an image comes into view."""
SRCSET_ATTRIBUTES = {"img": ("srcset", "data-srcset"), "source": ("srcset",), "link": ("imagesrcset",)}
LOADED_LINKS = frozenset(
    {"stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest", "modulepreload"}
)
PRELOADED_KINDS = frozenset({"", "audio", "document", "embed", "fetch", "font", "image", "object", "script", "style",
                             "track", "video"})  # fmt: skip
PREFETCHED_FILE = re.compile(r"\.(?:m?js|css|json|wasm|woff2?|ttf|png|jpe?g|svg|webp|avif)(?:[?#]|$)", re.IGNORECASE)
"""Files for the pages that follow; these pages themselves are links."""
MAX_FRAME_DOCUMENTS = 20  # `srcdoc` attributes read per page
MAX_MANIFEST_ICONS = 50
MAX_MANIFEST_BYTES = 1_000_000
DEFAULT_ICON = "/favicon.ico"  # requested for pages that name no icon

match_srcset_url = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)").match
match_srcset_descriptors = re.compile(r"(?:[^,(]++|\([^)]*+\)?)*+,?").match
MODULE_IMPORT = re.compile(  # static imports
    r"(?:^|[;}\n])[ \t]*+(?:import|export)\b[^\"';()=]{0,400}+[\"']([^\"'\s]{1,2000}+)[\"']"
)
MAX_SCRIPT_LENGTH = 500_000
MAX_MODULE_IMPORTS = 200


def find_page_requisites(tree: Document, *, needs_icon: bool = True) -> Iterator[str]:
    """Yield the URLs of requisites as written, except `data:` URLs. `needs_icon`: it is not shown in a frame."""
    has_icon = False
    for url, is_icon in _find_all(tree):
        has_icon |= is_icon
        if url and not url.startswith(("data:", "#", "javascript:", "about:", "blob:")):
            yield url
    if needs_icon and not has_icon:
        yield DEFAULT_ICON


def _find_all(tree: Document) -> Iterator[tuple[str, bool]]:
    for element in tree.iter_elements((*SOURCE_ATTRIBUTES, "link", "input", "style")):
        yield from ((url, False) for url in _get_sources(element))
        if element.tag == "link" and (rel := _get_loaded_rel(element)):
            yield (element.attr("href") or "").strip(), "icon" in rel
    for frame in tree.select("iframe[srcdoc]")[:MAX_FRAME_DOCUMENTS]:
        yield from ((url, False) for url in find_srcdoc_requisites(frame))
    for element in tree.select("[style]"):
        if "(" in (style := element.attr("style") or ""):
            yield from ((found.url, False) for found in find_css_urls(style))


def _get_sources(element: Element) -> Iterator[str]:
    tag = element.tag
    if tag == "style":
        yield from (found.url for found in find_css_urls(element.text))
    elif tag == "input":
        if (element.attr("type") or "").lower() == "image":
            yield (element.attr("src") or "").strip()
    elif tag == "script" and (element.attr("type") or "").lower() == "module" and not element.attr("src"):
        yield from find_module_imports(element.text)
    for name in SOURCE_ATTRIBUTES.get(tag, ()):
        if value := element.attr(name):
            yield value.partition("#")[0].strip() if tag == "use" else value.strip()
    for name in SRCSET_ATTRIBUTES.get(tag, ()):
        yield from parse_srcset(element.attr(name) or "")


def find_srcdoc_requisites(frame: Element) -> Iterator[str]:
    document = parse_html((frame.attr("srcdoc") or "").encode("utf-8", "replace"), "utf-8")
    for element in document.iter_elements((*SOURCE_ATTRIBUTES, "link", "input", "style")):
        yield from _get_sources(element)
        if element.tag == "link" and _get_loaded_rel(element):
            yield (element.attr("href") or "").strip()


def _get_loaded_rel(link: Element) -> list[str]:
    """Return the relations of a link that a browser loads at once, else an empty list."""
    rel = (link.attr("rel") or "").lower().split()
    if not LOADED_LINKS.isdisjoint(rel):
        return rel
    if "prefetch" in rel and PREFETCHED_FILE.search(link.attr("href") or ""):
        return rel
    return rel if "preload" in rel and (link.attr("as") or "").lower() in PRELOADED_KINDS else []


def split_srcset(srcset: str) -> Iterator[tuple[str, int, int]]:
    """Yield the URLs of a `srcset` value with their places (WHATWG); commas may be part of a URL."""
    position = 0
    while match := match_srcset_url(srcset, position):
        position = match.end()
        url = match[1].rstrip(",")
        if url:
            yield url, match.start(1), match.start(1) + len(url)
        if not match[1].endswith(",") and (descriptors := match_srcset_descriptors(srcset, position)):
            position = descriptors.end()


def parse_srcset(srcset: str) -> list[str]:
    """Return the URLs of a `srcset` value."""
    return [url for url, _, _ in split_srcset(srcset)]


def rewrite_srcset(srcset: str, rewrite: Callable[[str], str]) -> str:
    """Replace the URLs of a `srcset` value."""
    parts, end = [], 0
    for url, start, url_end in split_srcset(srcset):
        parts += [srcset[end:start], rewrite(url)]
        end = url_end
    return "".join([*parts, srcset[end:]])


def find_module_imports(script: str) -> Iterator[str]:
    """Yield the relative and absolute URLs that a module imports statically, not bare names."""
    for count, match in enumerate(MODULE_IMPORT.finditer(script, 0, MAX_SCRIPT_LENGTH)):
        if count >= MAX_MODULE_IMPORTS:
            return
        if match[1].startswith(("/", "./", "../", "http:", "https:")):
            yield match[1]


def find_manifest_icons(body: bytes) -> list[str]:
    """Return the URLs of the icons of a web app manifest."""
    try:
        manifest = json.loads(body) if len(body) <= MAX_MANIFEST_BYTES else {}
    except (ValueError, RecursionError):
        return []
    icons = manifest.get("icons") if isinstance(manifest, dict) else None
    entries = icons[:MAX_MANIFEST_ICONS] if isinstance(icons, list) else []
    sources = [entry.get("src") for entry in entries if isinstance(entry, dict)]
    return [source for source in sources if isinstance(source, str) and not source.startswith("data:")]
