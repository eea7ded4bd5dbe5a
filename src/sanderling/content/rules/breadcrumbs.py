"""Recognize navigation lines inside the main content: breadcrumbs, pagination, tables of contents, and footers."""

import re
from itertools import compress

from sanderling.content.line_features import LONG_LINE_LENGTH, LineFeatures
from sanderling.content.phrases import NAVIGATION, TABLE_OF_CONTENTS
from sanderling.content.side_content import is_link_only
from sanderling.content.word_lists import compile_words

search_separator = re.compile(r"\s[›»>/|→·•]\s|[›»→]").search  # between breadcrumbs
# Patterns with the words of all languages in place of `{table.group}`.
BREADCRUMB_TRAIL = r"(?:{boilerplate.home_page})(?:\s*[›»→>]|\s[/|·•]\s).+"
PAGINATION_LINK = (
    r"[←«‹<]*\s*(?:{boilerplate.pagination})(?:\s?(?:{boilerplate.pagination_noun}))?\s*(?:[:：›»→←«‹>-].*)?"
)
LABELED_PAGINATION = r"\s*(?:{boilerplate.pagination}|up)\s*[:：]"
PAGINATION_LABELS = re.compile(r"(?:^|,)\s*[^\W\d_]+\s*[:：]|[\[\]|]")  # labels, and brackets around links
COPYRIGHT_CLAIM = r"(?:\(c\)|\bcopyright\b)"
TOOL_NAME_AHEAD = r"(?= (?:(?-i:[A-Z])|[^\w\s]|love\b))"  # "made with Hugo", but not "made with wool"
match_footer = re.compile(  # copyright or generator line
    rf"\W*(?:©|{COPYRIGHT_CLAIM}(?=[^\w(]*(?:{COPYRIGHT_CLAIM}|©)|.*\b(?:(?:19|20)\d\d|rights reserved)\b)|"
    rf"copyright by\b|"
    rf"(?:proudly )?powered by(?! an?\b)|generated (?:by|with|using|on)\b|"
    rf"(?:built|made|created) (?:with|using){TOOL_NAME_AHEAD})",
    re.IGNORECASE,
).match
NUMBERING_CHARS = "0123456789.)( \t§"


def find_footer_lines(lines: list[str], link_only_lines: set[int]) -> list[int]:
    """Return the copyright and generator lines at the end of a page, preceded by the line above them."""
    found = list[int]()
    for n in reversed(range(len(lines))):
        if lines[n] and n not in link_only_lines:
            found.append(n)
            if len(lines[n]) >= LONG_LINE_LENGTH or not match_footer(lines[n]):
                break
    return found[::-1]


def find_navigation_lines(features: LineFeatures, boilerplate_lines: set[int]) -> set[int]:
    """Return the navigation lines, including headings of removed tables of contents."""
    found = {
        *_find_above_title(features),
        *_find_breadcrumbs(features),
        *_find_labeled_pagination(features),
        *_find_contents_links(features),
    }
    return found | {
        n
        for n in features.find_phrase_lines(TABLE_OF_CONTENTS)
        if _is_followed_by_boilerplate(features, n, found | boilerplate_lines)
    }


def _find_above_title(features: LineFeatures) -> list[int]:
    """Return link lines above the first-level heading, if there is no prose above it."""
    title = next((n for n in features.title_lines if n in features.heading_lines), 0)
    above = [n for n in compress(range(title), features.page.main_mask) if features.lines[n]]
    if not above or any(map(features.is_prose, above)):
        return []
    features.decisive_lines.update(above)
    crumbs = [
        n
        for n in above
        if n in features.link_only_lines or (n in features.page.link_chars and search_separator(features.lines[n]))
    ]
    return [*crumbs, *(n for n in above if crumbs and features.lines[n] == features.lines[title])]


def _find_breadcrumbs(features: LineFeatures) -> list[int]:
    """Return breadcrumb trails and links to the previous or next page."""
    return [
        n
        for n in features.find_phrase_lines(NAVIGATION)
        if (compile_words(PAGINATION_LINK).fullmatch(features.lines[n]) and n in features.link_only_lines)
        or compile_words(BREADCRUMB_TRAIL).fullmatch(features.lines[n])
    ]


def _find_labeled_pagination(features: LineFeatures) -> list[int]:
    """Return lines of labeled links to adjacent pages: Next: Gulls, Up: Birds."""
    main, sizes, lines = features.page.main_mask, features.page.weighted_lengths, features.lines
    match_label = compile_words(LABELED_PAGINATION).match
    linked = {
        n: link_chars
        for n, link_chars in features.page.link_chars.items()
        if n < len(main) and main[n] and sizes[n] < LONG_LINE_LENGTH
    }
    return [
        n
        for n, link_chars in linked.items()
        if match_label(lines[n]) and is_link_only(len(PAGINATION_LABELS.sub("", lines[n])), link_chars)
    ]


def _find_contents_links(features: LineFeatures) -> list[int]:
    """Return links that repeat headings of the page, if there are several."""
    links = features.link_only_lines - features.heading_lines
    headings = {features.lines[n].lstrip(NUMBERING_CHARS) for n in features.heading_lines} - {""} if links else ()
    found = [n for n in links if features.lines[n].lstrip(NUMBERING_CHARS) in headings] if headings else []
    return found if len(found) > 1 else []


def _is_followed_by_boilerplate(features: LineFeatures, line_index: int, boilerplate_lines: set[int]) -> bool:
    next_line = next((n for n in range(line_index + 1, len(features.lines)) if features.lines[n]), line_index)
    return next_line in boilerplate_lines or (
        next_line in features.page.link_chars and not features.page.main_mask[next_line]
    )
