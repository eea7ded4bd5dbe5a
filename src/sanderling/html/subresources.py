"""What a page loads besides itself: images, scripts, style sheets."""

import re
from collections.abc import Iterator

from sanderling.html.parser import Document, Element

match_srcset_url = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)").match
match_srcset_descriptors = re.compile(r"(?:[^,(]++|\([^)]*+\)?)*+,?").match


def find_subresources(tree: Document) -> Iterator[str]:
    """Spell out the images, scripts and style sheets a page uses; data inside the page is none of them."""
    for element in tree.iter_elements(("img", "script", "link", "video", "input")):
        for source in _get_sources(element):
            if not source.startswith("data:"):
                yield source


def _get_sources(element: Element) -> list[str]:
    """List what one element loads; of a choice of images all, where there is no other."""
    match element.tag:
        case "link":
            found = element.attr("href") if _is_loaded_link(element) else None
        case "video":
            found = element.attr("poster")
        case "input":
            found = element.attr("src") if (element.attr("type") or "").lower() == "image" else None
        case _:
            found = element.attr("src")
    if element.tag == "img" and (not found or found.startswith("data:")):
        return parse_srcset(element.attr("srcset") or "")
    return [found] if found else []


def parse_srcset(srcset: str) -> list[str]:
    """Read the addresses in a `srcset`, as browsers part them (WHATWG): commas may stand inside and in brackets."""
    found = []
    at = 0
    while part := match_srcset_url(srcset, at):
        at = part.end()
        address = part[1]
        found.append(address.rstrip(","))
        if not address.endswith(",") and (rest := match_srcset_descriptors(srcset, at)):
            at = rest.end()
    return [address for address in found if address]


def _is_loaded_link(link: Element) -> bool:
    rel = (link.attr("rel") or "").lower().split()
    return "stylesheet" in rel or "icon" in rel
