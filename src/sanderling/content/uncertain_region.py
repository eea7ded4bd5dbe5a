"""Rules that keep text in the main content when its detection is uncertain; a missed change is worse than noise.

- `<noscript>` text counts if the page has little else.
- A sidebar next to an article is boilerplate, however long it is.
- An article is content wherever it is.
"""

from collections.abc import Sequence
from itertools import compress

from sanderling.content.line_coverage import (
    ARTICLE,
    COMMENT,
    HEADING,
    NAV_OR_FOOTER,
    SIDEBAR,
    TITLE,
    LineCoverage,
    mark_lines,
)
from sanderling.content.line_features import MIN_PROSE_LENGTH
from sanderling.content.main_region import MainRegion
from sanderling.content.policy_notices import find_addresses, find_policy_notices
from sanderling.content.side_content import LineSpan, is_link_only

MIN_ARTICLE_PROSE = 200  # characters; a shorter article is a teaser
MIN_OUTSIDE_PROSE = 600  # characters of prose next to a sidebar
MIN_OUTSIDE_SHARE = 0.1  # the same, relative to the prose of the sidebar


def is_noscript_content(regions: LineCoverage, noscript_mask: bytearray, max_share: float) -> bool:
    """Return whether `<noscript>` holds more than `max_share` of the prose, or the page has no prose."""
    total, inside = sum(regions.prose_lengths), sum(compress(regions.prose_lengths, noscript_mask))
    return total == 0 or (inside > 0 and not regions.is_at_most(inside, max_share * total))


def mask_sidebars(regions: LineCoverage, boilerplate: bytearray, max_prose: float) -> bytearray:
    """Mask sidebars with more than `max_prose` next to an article or a title with its own text."""
    mask, sidebars = bytearray(len(boilerplate)), regions.build_mask(SIDEBAR)
    large = [span for span in regions.spans.get(SIDEBAR, ()) if sum(regions.prose_lengths[slice(*span)]) > max_prose]
    if not large:
        return mask
    outside_prose = _count_outside_prose(regions, boilerplate, sidebars)
    for first, end in large:
        last = min(end, len(mask))
        min_prose = max(MIN_OUTSIDE_PROSE, MIN_OUTSIDE_SHARE * sum(regions.prose_lengths[first:last]))
        if regions.is_at_most(min_prose, outside_prose):
            mask[first:last] = b"\1" * (last - first)
    return mask


def _count_outside_prose(regions: LineCoverage, boilerplate: bytearray, sidebar_mask: bytearray) -> int:
    """Count prose outside sidebars that is in articles or below the first title."""
    articles = regions.build_mask(ARTICLE)
    titles = [line for line, _ in regions.spans.get(TITLE, ()) if line < len(sidebar_mask) and not sidebar_mask[line]]
    start = min(titles, default=len(sidebar_mask))
    return sum(
        length
        for n, length in enumerate(regions.prose_lengths)
        if length and not sidebar_mask[n] and not boilerplate[n] and (articles[n] or n >= start)
    )


def is_side_region(regions: LineCoverage, region: MainRegion, main_mask: bytearray) -> bool:
    """Return whether the region is inside a sidebar or comments while other prose is outside."""
    for first, last in (*regions.spans.get(SIDEBAR, ()), *regions.spans.get(COMMENT, ())):
        if first <= region.first_line and region.end_line <= last:
            outside = (*range(first), *range(last, len(main_mask)))
            return any(main_mask[n] and regions.prose_lengths[n] for n in outside)
    return False


def find_outside_articles(regions: LineCoverage, region: MainRegion) -> list[slice]:
    """Return articles outside the region that have their own text; a teaser has a linked heading."""
    spans = [(first, min(last, len(regions.lines))) for first, last in regions.spans.get(ARTICLE, ())]
    outside = [span for span in spans if span[1] <= region.first_line or span[0] >= region.end_line]
    regions.decisive_lines.update(n for first, last in outside for n in range(first, last))
    return [slice(*span) for span in outside if _is_full_article(regions, span)]


def _is_full_article(regions: LineCoverage, span: LineSpan) -> bool:
    """Return whether an article has an unlinked heading and enough prose outside links."""
    first, last = span
    link_lines = {n for n in range(first, last) if is_link_only(regions.char_counts[n], regions.link_chars.get(n, 0))}
    headings = {line for line, _ in regions.spans.get(HEADING, ()) if first <= line < last}
    prose = sum(regions.prose_lengths[n] for n in range(first, last) if n not in link_lines)
    link_chars = sum(regions.link_chars.get(n, 0) for n in range(first, last))
    return bool(headings) and headings.isdisjoint(link_lines) and prose >= MIN_ARTICLE_PROSE and 2 * link_chars < prose


def add_notices_and_addresses(regions: LineCoverage, main_mask: bytearray, excluded_masks: Sequence[bytearray]) -> None:
    """Add policy notices above the text and addresses anywhere to the main content."""
    candidates = bytearray(map(bool, regions.weighted_lengths))
    for mask in (main_mask, *excluded_masks):
        mark_lines(candidates, mask, 0)
    for n in (*find_addresses(regions.lines, candidates), *_find_notices(regions, main_mask, candidates)):
        main_mask[n] = 1


def _find_notices(regions: LineCoverage, main_mask: bytearray, candidate_mask: bytearray) -> list[int]:
    """Return policy notices above the first prose line of the main content that are not links."""
    first = next(
        (n for n, length in enumerate(regions.prose_lengths) if main_mask[n] and length >= MIN_PROSE_LENGTH), 0
    )
    nav = regions.build_mask(NAV_OR_FOOTER)
    above = [n for n in compress(range(first), candidate_mask) if not nav[n]]
    return find_policy_notices(
        regions.lines, [n for n in above if not is_link_only(regions.char_counts[n], regions.link_chars.get(n, 0))]
    )
