"""Lines of a text that are furniture each by itself: ways down from the front page, and on to the next one."""

import re
from itertools import compress

from sanderling.content.line_features import LONG_LINE_LENGTH, LineFeatures
from sanderling.content.phrases import NAVIGATION, TABLE_OF_CONTENTS
from sanderling.content.side_content import is_link_only

search_separator = re.compile(r"\s[›»>/|→·•]\s|[›»→]").search  # what stands between the steps of a way
is_breadcrumb_trail = re.compile(
    r"(?:home|start|startseite|accueil|inicio|início|strona główna|hem|hjem|forside|etusivu|domů|главная|ホーム|首页|"
    r"首頁|홈)(?:\s*[›»→>]|\s[/|·•]\s).+",
    re.IGNORECASE,
).fullmatch
PAGINATION_WORDS = (
    r"next|prev|previous|weiter|nächste[rs]?|zurück|vorherige[rs]?|suivante?|précédente?|siguiente|anterior|"
    r"successiv[oa]|precedente|próxim[oa]|volgende|vorige|następn[ya]|poprzedni[a]?|nästa|föregående|следующая|"
    r"предыдущая|次へ|次の|前へ|前の|下一[篇页頁]|上一[篇页頁]"
)
is_pagination_link = re.compile(
    rf"[←«‹<]*\s*(?:{PAGINATION_WORDS})"
    r"(?:\s?(?:article|page|post|topic|chapter|section|lesson|artikel|seite|beitrag|thema|kapitel|chapitre|página|artículo|"
    r"artigo|entrada|capítulo|articolo|pagina|capitolo|bericht|strona|sida|статья|страница|記事|ページ))?"
    r"\s*(?:[:：›»→←«‹>-].*)?",
    re.IGNORECASE,
).fullmatch
match_pagination_label = re.compile(rf"\s*(?:{PAGINATION_WORDS}|up)\s*[:：]", re.IGNORECASE).match
PAGINATION_LABELS = re.compile(
    r"(?:^|,)\s*[^\W\d_]+\s*[:：]|[\[\]|]"
)  # of such steps, and what stands around those without one
COPYRIGHT_CLAIM = r"(?:\(c\)|\bcopyright\b)"
TOOL_NAME_AHEAD = (
    r"(?= (?:(?-i:[A-Z])|[^\w\s]|love\b))"  # what makes pages has a name; what else is made, of wool say, is told
)
match_footer = re.compile(  # what the last line of a page begins with, where it says whose it is and what made it
    rf"\W*(?:©|{COPYRIGHT_CLAIM}(?=[^\w(]*(?:{COPYRIGHT_CLAIM}|©)|.*\b(?:(?:19|20)\d\d|rights reserved)\b)|copyright by\b|"
    rf"(?:proudly )?powered by(?! an?\b)|generated (?:by|with|using|on)\b|"
    rf"(?:built|made|created) (?:with|using){TOOL_NAME_AHEAD})",
    re.IGNORECASE,
).match
NUMBERING_CHARS = "0123456789.)( \t§"


def find_footer_lines(lines: list[str], link_only_lines: set[int]) -> list[int]:
    """Number the lines at the end of a page that say whose it is and what made it, and the next one above them."""
    found = list[int]()
    for n in reversed(range(len(lines))):
        if lines[n] and n not in link_only_lines:
            found.append(n)
            if len(lines[n]) >= LONG_LINE_LENGTH or not match_footer(lines[n]):
                break
    return found[::-1]


def find_navigation_lines(features: LineFeatures, boilerplate_lines: set[int]) -> set[int]:
    """Number the lines that are furniture; with the titles of contents that are left out."""
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
    """Number the lines of links above the title of the first level, if there is no prose above it."""
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
    """Number the lines that lead from the front page down, with marks in between, or to the pages beside this one."""
    return [
        n
        for n in features.find_phrase_lines(NAVIGATION)
        if (is_pagination_link(features.lines[n]) and n in features.link_only_lines)
        or is_breadcrumb_trail(features.lines[n])
    ]


def _find_labeled_pagination(features: LineFeatures) -> list[int]:
    """Number the lines of links to the pages around this one, with a label before each: Next: Gulls, Up: Birds."""
    main, sizes, lines = features.page.main_mask, features.page.weighted_lengths, features.lines
    linked = {
        n: inside
        for n, inside in features.page.link_chars.items()
        if n < len(main) and main[n] and sizes[n] < LONG_LINE_LENGTH
    }
    return [
        n
        for n, inside in linked.items()
        if match_pagination_label(lines[n]) and is_link_only(len(PAGINATION_LABELS.sub("", lines[n])), inside)
    ]


def _find_contents_links(features: LineFeatures) -> list[int]:
    """Number the links that repeat headings: they are read there."""
    links = features.link_only_lines - features.heading_lines
    heads = {features.lines[n].lstrip(NUMBERING_CHARS) for n in features.heading_lines} - {""} if links else ()
    found = [n for n in links if features.lines[n].lstrip(NUMBERING_CHARS) in heads] if heads else []
    return found if len(found) > 1 else []


def _is_followed_by_boilerplate(features: LineFeatures, line_index: int, boilerplate_lines: set[int]) -> bool:
    """Say whether links follow a line that are no text."""
    after = next((n for n in range(line_index + 1, len(features.lines)) if features.lines[n]), line_index)
    return after in boilerplate_lines or (after in features.page.link_chars and not features.page.main_mask[after])
