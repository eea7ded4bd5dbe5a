"""What a page loads besides itself: images, scripts, style sheets."""

import re
from collections.abc import Iterator

from sanderling.html.parser import Document, Element

CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)").match
DESCRIPTORS = re.compile(r"(?:[^,(]++|\([^)]*+\)?)*+,?").match


def references(tree: Document) -> Iterator[str]:
    """Spell out the images, scripts and style sheets a page uses; data inside the page is none of them."""
    for element in tree.iter_elements(("img", "script", "link", "video", "input")):
        for source in _sources(element):
            if not source.startswith("data:"):
                yield source


def _sources(element: Element) -> list[str]:
    """List what one element loads; of a choice of images all, where there is no other."""
    match element.tag:
        case "link":
            found = element.attr("href") if _is_used(element) else None
        case "video":
            found = element.attr("poster")
        case "input":
            found = element.attr("src") if (element.attr("type") or "").lower() == "image" else None
        case _:
            found = element.attr("src")
    if element.tag == "img" and (not found or found.startswith("data:")):
        return candidates(element.attr("srcset") or "")
    return [found] if found else []


def candidates(srcset: str) -> list[str]:
    """Read the addresses in a `srcset`, as browsers part them (WHATWG): commas may stand inside and in brackets."""
    found = []
    at = 0
    while part := CANDIDATE(srcset, at):
        at = part.end()
        address = part[1]
        found.append(address.rstrip(","))
        if not address.endswith(",") and (rest := DESCRIPTORS(srcset, at)):
            at = rest.end()
    return [address for address in found if address]


def _is_used(link: Element) -> bool:
    rel = (link.attr("rel") or "").lower().split()
    return "stylesheet" in rel or "icon" in rel
