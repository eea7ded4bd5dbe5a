"""Addresses in tooltips (`title`), as lines of main content after all others.

A tooltip is only read if it has an email, phone, or postal address: others repeat their element, or say when something
was posted.
"""

from functools import lru_cache

from msgspec.structs import replace

from sanderling.content.extract import TextBlocks
from sanderling.content.policy_notices import has_address
from sanderling.content.user_rules import UserRules
from sanderling.html.parser import Document, Element, get_attribute_values

TOOLTIP_SELECTOR = "[title]"
UNSHOWN_TAGS = frozenset(("link", "meta", "script", "style"))
MAX_TOOLTIPS = 10_000  # elements that are read
MAX_TOOLTIP_LINES = 500


def add_tooltip_addresses(page_blocks: TextBlocks, tree: Document, user_rules: UserRules) -> TextBlocks:
    """Return the blocks with a line for each distinct tooltip that has an address."""
    elements = [] if user_rules.is_watch_only else tree.select(TOOLTIP_SELECTOR)[:MAX_TOOLTIPS]
    tooltips = get_attribute_values(elements, "title")
    found = [pair for pair in zip(elements, tooltips, strict=True) if find_address(pair[1])]
    if not found:
        return page_blocks
    ignored = {element for selector in user_rules.ignore for element in tree.select(selector)}
    lines = list(dict.fromkeys(find_address(text) for element, text in found if _is_shown(element, ignored)))
    lines = lines[:MAX_TOOLTIP_LINES]
    return replace(
        page_blocks,
        lines=[*page_blocks.lines, *lines],
        main_mask=page_blocks.main_mask + b"\1" * len(lines),
        verbatim_mask=page_blocks.verbatim_mask + bytes(len(lines)),
        hidden_mask=page_blocks.hidden_mask + bytes(len(lines)),
    )


@lru_cache(maxsize=4_096)
def find_address(tooltip: str) -> str:
    """Return a tooltip as a line if it has an address; empty otherwise."""
    line = " ".join(tooltip.split())
    return line if has_address(line) else ""


def _is_shown(element: Element, ignored: set[Element]) -> bool:
    return element.tag not in UNSHOWN_TAGS and ignored.isdisjoint((element, *element.ancestors))
