"""Rules that keep text in the main content where the detection is uncertain: a missed change is worse than a noisy one.

Text for readers without scripts counts where a page has little else; a sidebar is boilerplate beside an article,
however long it is; an article is content wherever it stands.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Protocol

from sanderling.content.line_features import PROSE
from sanderling.content.main_region import Core
from sanderling.content.policy_notices import find_addresses, find_notices
from sanderling.content.side_content import Lines, is_bare

ARTICLE_TEXT = 200  # letters of prose that tell an article from a teaser
LEAST_TEXT = 600  # letters of prose that make a text which a sidebar stands beside
SHARE = 0.1  # of the prose of the sidebar that this text has at least


class PageAreas(Protocol):
    """The lines of a page and the spans of its elements, as `areas.Areas` has them."""

    lines: list[str]
    letters: list[int]
    lengths: list[int]
    prose: list[int]
    linked: dict[int, int]
    weighed: set[int]
    spans: dict[str, list[tuple[int, int]]]

    def cover(self, label: str, most: float = 0.0) -> bytearray:
        """Mark the lines inside spans of a label."""
        ...

    def is_at_most(self, one: float, other: float) -> bool:
        """Compare two numbers of letters and note the margin."""
        ...


def is_unscripted_content(areas: PageAreas, unscripted: bytearray, most: float) -> bool:
    """Return whether `noscript` elements have the text of a page: a large share of its prose, or there is no prose."""
    whole, inside = sum(areas.prose), sum(compress(areas.prose, unscripted))
    return whole == 0 or (inside > 0 and not areas.is_at_most(inside, most * whole))


def cover_sidebars(areas: PageAreas, boilerplate: bytearray, most: float) -> bytearray:
    """Mark sidebars with more than `most` prose that stand beside an article or a title with text of its own."""
    area, sidebars = bytearray(len(boilerplate)), areas.cover("sidebar")
    large = [span for span in areas.spans.get("sidebar", ()) if sum(areas.prose[slice(*span)]) > most]
    if not large:
        return area
    told = _text_outside(areas, boilerplate, sidebars)
    for first, end in large:
        last = min(end, len(area))
        least = max(LEAST_TEXT, SHARE * sum(areas.prose[first:last]))
        if areas.is_at_most(least, told):
            area[first:last] = b"\1" * (last - first)
    return area


def _text_outside(areas: PageAreas, boilerplate: bytearray, sidebars: bytearray) -> int:
    """Count the letters of prose in articles, or below the first title, that are outside of all sidebars."""
    articles = areas.cover("article")
    titles = [line for line, _ in areas.spans.get("title", ()) if line < len(sidebars) and not sidebars[line]]
    start = min(titles, default=len(sidebars))
    return sum(
        size
        for place, size in enumerate(areas.prose)
        if size and not sidebars[place] and not boilerplate[place] and (articles[place] or place >= start)
    )


def is_beside_text(areas: PageAreas, core: Core, main: bytearray) -> bool:
    """Return whether a core is a part of a sidebar or of comments, and other prose stands outside of that."""
    for first, last in (*areas.spans.get("sidebar", ()), *areas.spans.get("comment", ())):
        if first <= core.first and core.last <= last:
            outside = (*range(first), *range(last, len(main)))
            return any(main[place] and areas.prose[place] for place in outside)
    return False


def articles_outside(areas: PageAreas, core: Core) -> list[slice]:
    """Return the articles outside of a core that have text of their own; a teaser has a link for its heading."""
    spans = [(first, min(last, len(areas.lines))) for first, last in areas.spans.get("article", ())]
    apart = [span for span in spans if span[1] <= core.first or span[0] >= core.last]
    areas.weighed.update(place for first, last in apart for place in range(first, last))
    return [slice(*span) for span in apart if _is_written_out(areas, span)]


def _is_written_out(areas: PageAreas, span: Lines) -> bool:
    """Return whether an article has prose of its own, most of it outside of links, and no linked heading."""
    first, last = span
    bare = {n for n in range(first, last) if is_bare(areas.letters[n], areas.linked.get(n, 0))}
    headings = {line for line, _ in areas.spans.get("heading", ()) if first <= line < last}
    prose = sum(areas.prose[n] for n in range(first, last) if n not in bare)
    linked = sum(areas.linked.get(n, 0) for n in range(first, last))
    return bool(headings) and headings.isdisjoint(bare) and prose >= ARTICLE_TEXT and 2 * linked < prose


def keep_telling_lines(areas: PageAreas, main: bytearray, unseen: Sequence[bytearray]) -> None:
    """Add to the main content notices of a new version above the text, and addresses wherever they are shown."""
    candidates = bytearray(not there and size > 0 for there, size in zip(main, areas.lengths, strict=True))
    for area in unseen:
        candidates = bytearray(one and not other for one, other in zip(candidates, area, strict=True))
    for place in (*find_addresses(areas.lines, candidates), *_notices(areas, main, candidates)):
        main[place] = 1


def _notices(areas: PageAreas, main: bytearray, candidates: bytearray) -> list[int]:
    """Find notices above the first line of prose in the main content; what leads elsewhere is none."""
    first = next((n for n, size in enumerate(areas.prose) if main[n] and size >= PROSE), 0)
    outside = areas.cover("outside")
    above = [n for n in compress(range(first), candidates) if not outside[n]]
    return find_notices(areas.lines, [n for n in above if not is_bare(areas.letters[n], areas.linked.get(n, 0))])
