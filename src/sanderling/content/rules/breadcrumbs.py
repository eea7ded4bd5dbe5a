"""Lines of a text that are furniture each by itself: ways down from the front page, and on to the next one."""

import re
from itertools import compress

from sanderling.content.line_features import LONG, Sight
from sanderling.content.phrases import CONTENTS, WAY
from sanderling.content.side_content import is_bare

BETWEEN = re.compile(r"\s[›»>/|→·•]\s|[›»→]").search  # what stands between the steps of a way
DOWN = re.compile(
    r"(?:home|start|startseite|accueil|inicio|início|strona główna|hem|hjem|forside|etusivu|domů|главная|ホーム|首页|"
    r"首頁|홈)(?:\s*[›»→>]|\s[/|·•]\s).+",
    re.IGNORECASE,
).fullmatch
STEPS = (
    r"next|prev|previous|weiter|nächste[rs]?|zurück|vorherige[rs]?|suivante?|précédente?|siguiente|anterior|"
    r"successiv[oa]|precedente|próxim[oa]|volgende|vorige|następn[ya]|poprzedni[a]?|nästa|föregående|следующая|"
    r"предыдущая|次へ|次の|前へ|前の|下一[篇页頁]|上一[篇页頁]"
)
ONWARDS = re.compile(
    rf"[←«‹<]*\s*(?:{STEPS})"
    r"(?:\s?(?:article|page|post|topic|chapter|section|lesson|artikel|seite|beitrag|thema|kapitel|chapitre|página|artículo|"
    r"artigo|entrada|capítulo|articolo|pagina|capitolo|bericht|strona|sida|статья|страница|記事|ページ))?"
    r"\s*(?:[:：›»→←«‹>-].*)?",
    re.IGNORECASE,
).fullmatch
STEP = re.compile(rf"\s*(?:{STEPS}|up)\s*[:：]", re.IGNORECASE).match
LABELS = re.compile(r"(?:^|,)\s*[^\W\d_]+\s*[:：]|[\[\]|]")  # of such steps, and what stands around those without one
CLAIM = r"(?:\(c\)|\bcopyright\b)"
NAMED = r"(?= (?:(?-i:[A-Z])|[^\w\s]|love\b))"  # what makes pages has a name; what else is made, of wool say, is told
IMPRINT = re.compile(  # what the last line of a page begins with, where it says whose it is and what made it
    rf"\W*(?:©|{CLAIM}(?=[^\w(]*(?:{CLAIM}|©)|.*\b(?:(?:19|20)\d\d|rights reserved)\b)|copyright by\b|"
    rf"(?:proudly )?powered by(?! an?\b)|generated (?:by|with|using|on)\b|"
    rf"(?:built|made|created) (?:with|using){NAMED})",
    re.IGNORECASE,
).match
NUMBERING = "0123456789.)( \t§"


def imprint(lines: list[str], bare: set[int]) -> list[int]:
    """Number the lines at the end of a page that say whose it is and what made it, and the next one above them."""
    found = list[int]()
    for n in reversed(range(len(lines))):
        if lines[n] and n not in bare:
            found.append(n)
            if len(lines[n]) >= LONG or not IMPRINT(lines[n]):
                break
    return found[::-1]


def lines_apart(sight: Sight, trimmed: set[int]) -> set[int]:
    """Number the lines that are furniture; with the titles of contents that are left out."""
    found = {*_above_title(sight), *_ways(sight), *_labelled(sight), *_contents(sight)}
    return found | {n for n in sight.told(CONTENTS) if _leads_away(sight, n, found | trimmed)}


def _above_title(sight: Sight) -> list[int]:
    """Number the lines of links above the title of the first level, if there is no prose above it."""
    title = next((n for n in sight.titles if n in sight.headings), 0)
    above = [n for n in compress(range(title), sight.page.main) if sight.lines[n]]
    if not above or any(map(sight.is_prose, above)):
        return []
    sight.weighed.update(above)
    crumbs = [n for n in above if n in sight.bare or (n in sight.page.linked and BETWEEN(sight.lines[n]))]
    return [*crumbs, *(n for n in above if crumbs and sight.lines[n] == sight.lines[title])]


def _ways(sight: Sight) -> list[int]:
    """Number the lines that lead from the front page down, with marks in between, or to the pages beside this one."""
    return [n for n in sight.told(WAY) if (ONWARDS(sight.lines[n]) and n in sight.bare) or DOWN(sight.lines[n])]


def _labelled(sight: Sight) -> list[int]:
    """Number the lines of links to the pages around this one, with a label before each: Next: Gulls, Up: Birds."""
    main, sizes, lines = sight.page.main, sight.page.lengths, sight.lines
    linked = {n: inside for n, inside in sight.page.linked.items() if n < len(main) and main[n] and sizes[n] < LONG}
    return [n for n, inside in linked.items() if STEP(lines[n]) and is_bare(len(LABELS.sub("", lines[n])), inside)]


def _contents(sight: Sight) -> list[int]:
    """Number the links that repeat headings: they are read there."""
    links = sight.bare - sight.headings
    heads = {sight.lines[n].lstrip(NUMBERING) for n in sight.headings} - {""} if links else ()
    found = [n for n in links if sight.lines[n].lstrip(NUMBERING) in heads] if heads else []
    return found if len(found) > 1 else []


def _leads_away(sight: Sight, place: int, trimmed: set[int]) -> bool:
    """Say whether links follow a line that are no text."""
    after = next((n for n in range(place + 1, len(sight.lines)) if sight.lines[n]), place)
    return after in trimmed or (after in sight.page.linked and not sight.page.main[after])
