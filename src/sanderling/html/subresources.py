"""Extract the images, scripts, and style sheets that a page loads."""

import re
from collections.abc import Iterator

from sanderling.html.parser import Document, Element

match_srcset_url = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)").match
match_srcset_descriptors = re.compile(r"(?:[^,(]++|\([^)]*+\)?)*+,?").match


def find_subresources(tree: Document) -> Iterator[str]:
    """Yield the URLs of subresources as written, except `data:` URLs."""
    for element in tree.iter_elements(("img", "script", "link", "video", "input")):
        for source in _get_sources(element):
            if not source.startswith("data:"):
                yield source


def _get_sources(element: Element) -> list[str]:
    match element.tag:
        case "link":
            source = element.attr("href") if _is_loaded_link(element) else None
        case "video":
            source = element.attr("poster")
        case "input":
            source = element.attr("src") if (element.attr("type") or "").lower() == "image" else None
        case _:
            source = element.attr("src")
    if element.tag == "img" and (not source or source.startswith("data:")):
        return parse_srcset(element.attr("srcset") or "")
    return [source] if source else []


def parse_srcset(srcset: str) -> list[str]:
    """Return the URLs of a `srcset` value (WHATWG); commas may be part of a URL."""
    urls = []
    position = 0
    while match := match_srcset_url(srcset, position):
        position = match.end()
        url = match[1]
        urls.append(url.rstrip(","))
        if not url.endswith(",") and (descriptors := match_srcset_descriptors(srcset, position)):
            position = descriptors.end()
    return [url for url in urls if url]


def _is_loaded_link(link: Element) -> bool:
    rel = (link.attr("rel") or "").lower().split()
    return "stylesheet" in rel or "icon" in rel
