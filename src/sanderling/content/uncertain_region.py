"""Rules that keep text in the main content where the detection is uncertain: a missed change is worse than a noisy one.

Text for readers without scripts counts where a page has little else; a sidebar is boilerplate beside an article,
however long it is; an article is content wherever it stands.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Protocol

from sanderling.content.line_features import MIN_PROSE_LENGTH
from sanderling.content.main_region import MainRegion
from sanderling.content.policy_notices import find_addresses, find_policy_notices
from sanderling.content.side_content import LineSpan, is_link_only

MIN_ARTICLE_PROSE = 200  # letters of prose that tell an article from a teaser
MIN_OUTSIDE_PROSE = 600  # letters of prose that make a text which a sidebar stands beside
MIN_OUTSIDE_SHARE = 0.1  # of the prose of the sidebar that this text has at least


class RegionView(Protocol):
    """The lines of a page and the spans of its elements, as `areas.Areas` has them."""

    lines: list[str]
    char_counts: list[int]
    weighted_lengths: list[int]
    prose_lengths: list[int]
    link_chars: dict[int, int]
    decisive_lines: set[int]
    spans: dict[str, list[tuple[int, int]]]

    def build_mask(self, label: str, max_prose: float = 0.0) -> bytearray:
        """Mark the lines inside spans of a label."""
        ...

    def is_at_most(self, one: float, other: float) -> bool:
        """Compare two numbers of letters and note the margin."""
        ...


def is_noscript_content(regions: RegionView, noscript_mask: bytearray, max_share: float) -> bool:
    """Return whether `noscript` elements have the text of a page: a large share of its prose, or there is no prose."""
    whole, inside = sum(regions.prose_lengths), sum(compress(regions.prose_lengths, noscript_mask))
    return whole == 0 or (inside > 0 and not regions.is_at_most(inside, max_share * whole))


def mask_sidebars(regions: RegionView, boilerplate: bytearray, max_prose: float) -> bytearray:
    """Mark sidebars with more than `most` prose that stand beside an article or a title with text of its own."""
    area, sidebars = bytearray(len(boilerplate)), regions.build_mask("sidebar")
    large = [span for span in regions.spans.get("sidebar", ()) if sum(regions.prose_lengths[slice(*span)]) > max_prose]
    if not large:
        return area
    told = _count_outside_prose(regions, boilerplate, sidebars)
    for first, end in large:
        last = min(end, len(area))
        least = max(MIN_OUTSIDE_PROSE, MIN_OUTSIDE_SHARE * sum(regions.prose_lengths[first:last]))
        if regions.is_at_most(least, told):
            area[first:last] = b"\1" * (last - first)
    return area


def _count_outside_prose(regions: RegionView, boilerplate: bytearray, sidebar_mask: bytearray) -> int:
    """Count the letters of prose in articles, or below the first title, that are outside of all sidebars."""
    articles = regions.build_mask("article")
    titles = [line for line, _ in regions.spans.get("title", ()) if line < len(sidebar_mask) and not sidebar_mask[line]]
    start = min(titles, default=len(sidebar_mask))
    return sum(
        size
        for place, size in enumerate(regions.prose_lengths)
        if size and not sidebar_mask[place] and not boilerplate[place] and (articles[place] or place >= start)
    )


def is_side_region(regions: RegionView, region: MainRegion, main_mask: bytearray) -> bool:
    """Return whether a core is a part of a sidebar or of comments, and other prose stands outside of that."""
    for first, last in (*regions.spans.get("sidebar", ()), *regions.spans.get("comment", ())):
        if first <= region.first_line and region.end_line <= last:
            outside = (*range(first), *range(last, len(main_mask)))
            return any(main_mask[place] and regions.prose_lengths[place] for place in outside)
    return False


def find_outside_articles(regions: RegionView, region: MainRegion) -> list[slice]:
    """Return the articles outside of a core that have text of their own; a teaser has a link for its heading."""
    spans = [(first, min(last, len(regions.lines))) for first, last in regions.spans.get("article", ())]
    apart = [span for span in spans if span[1] <= region.first_line or span[0] >= region.end_line]
    regions.decisive_lines.update(place for first, last in apart for place in range(first, last))
    return [slice(*span) for span in apart if _is_full_article(regions, span)]


def _is_full_article(regions: RegionView, span: LineSpan) -> bool:
    """Return whether an article has prose of its own, most of it outside of links, and no linked heading."""
    first, last = span
    bare = {n for n in range(first, last) if is_link_only(regions.char_counts[n], regions.link_chars.get(n, 0))}
    headings = {line for line, _ in regions.spans.get("heading", ()) if first <= line < last}
    prose = sum(regions.prose_lengths[n] for n in range(first, last) if n not in bare)
    linked = sum(regions.link_chars.get(n, 0) for n in range(first, last))
    return bool(headings) and headings.isdisjoint(bare) and prose >= MIN_ARTICLE_PROSE and 2 * linked < prose


def add_notices_and_addresses(regions: RegionView, main_mask: bytearray, excluded_masks: Sequence[bytearray]) -> None:
    """Add to the main content notices of a new version above the text, and addresses wherever they are shown."""
    candidates = bytearray(
        not there and size > 0 for there, size in zip(main_mask, regions.weighted_lengths, strict=True)
    )
    for area in excluded_masks:
        candidates = bytearray(one and not other for one, other in zip(candidates, area, strict=True))
    for place in (*find_addresses(regions.lines, candidates), *_find_notices(regions, main_mask, candidates)):
        main_mask[place] = 1


def _find_notices(regions: RegionView, main_mask: bytearray, candidate_mask: bytearray) -> list[int]:
    """Find notices above the first line of prose in the main content; what leads elsewhere is none."""
    first = next((n for n, size in enumerate(regions.prose_lengths) if main_mask[n] and size >= MIN_PROSE_LENGTH), 0)
    outside = regions.build_mask("outside")
    above = [n for n in compress(range(first), candidate_mask) if not outside[n]]
    return find_policy_notices(
        regions.lines, [n for n in above if not is_link_only(regions.char_counts[n], regions.link_chars.get(n, 0))]
    )
