"""The piece of a page that shows why it was found. Only plain text with marks leaves this module, never HTML."""

import re
from collections.abc import Iterator, Set

from sanderling.search.search_types import TextRun
from sanderling.search.tokenizer import get_stemmer, is_unspaced

MAX_SCAN_CHARS = 60_000  # characters of a page searched for the best piece
FIRST_SCAN_CHARS = 6_000  # of these first: most pages have all words close together early on
SNIPPET_LENGTH = 260
WORD_SEARCH_CHARS = 40  # characters within which a piece begins at a word; beyond it, or where none are apart, anywhere
_WORD = re.compile(r"[^\W_](?:[^\W_]|[+#'’])*")
_UNACCENTED_LANGUAGES = ("en",)  # written without accents, so that a word begins with the letters of its stem


def build_snippet(text: str, language: str, query_stems: Set[str], length: int = SNIPPET_LENGTH) -> tuple[TextRun, ...]:
    """Cut the stretch in which most of the wanted stems stand close together, marked."""
    looked_at = FIRST_SCAN_CHARS
    flat = " ".join(text[:FIRST_SCAN_CHARS].split())
    found = find_matches(flat, language, query_stems) if query_stems else []
    start, end = find_best_window(flat, found, length)
    if len(text) > FIRST_SCAN_CHARS and len({stem for a, b, stem in found if start <= a and b <= end}) < len(
        query_stems
    ):
        looked_at = MAX_SCAN_CHARS
        flat = " ".join(text[:MAX_SCAN_CHARS].split())
        found = find_matches(flat, language, query_stems)
        start, end = find_best_window(flat, found, length)
    pieces = split_matches(flat[start:end], [(a - start, b - start) for a, b, _ in found if start <= a and b <= end])
    before = (TextRun("… "),) if start else ()
    after = (TextRun(" …"),) if end < len(flat) or len(text) > looked_at else ()
    return (*before, *pieces, *after)


def highlight_text(text: str, language: str, query_stems: Set[str]) -> tuple[TextRun, ...]:
    """Mark the wanted stems in a short text, such as a title."""
    flat = " ".join(text.split())
    return split_matches(flat, [(a, b) for a, b, _ in find_matches(flat, language, query_stems)] if query_stems else [])


def find_matches(text: str, language: str, query_stems: Set[str]) -> list[tuple[int, int, str]]:
    """Give start, end and stem of every wanted word, in order."""
    stem_of = get_stemmer(language)
    low = text.lower()
    text = low if len(low) == len(text) else text
    spelt = _find_prefix_words(text, query_stems) if language in _UNACCENTED_LANGUAGES else set(_WORD.findall(text))
    words = {w: stem for w in spelt for stem in stem_of(w.lower()).split() if stem in query_stems}
    found = [
        (at, at + len(pair), pair)
        for pair in query_stems
        if is_unspaced(pair)
        for at in find_positions(text, pair, whole_word=False)
    ]
    found += [
        (at, at + len(w), stem)
        for w, stem in words.items()
        if not is_unspaced(w)
        for at in find_positions(text, w, whole_word=True)
    ]
    return drop_overlaps(sorted(found))


def _find_prefix_words(text: str, query_stems: Set[str]) -> set[str]:
    """Words that begin as one of the stems does; stemming changes the end of a word, seldom its first letters."""
    words = set()
    for beginning in {stem[: 3 if len(stem) > 4 else max(1, len(stem) - 2)] for stem in query_stems}:
        at = text.find(beginning)
        while at >= 0:
            end = at + len(beginning)
            if not (at and text[at - 1].isalnum()) and (word := _WORD.match(text, at)):
                end = max(end, word.end())
                words.add(word[0])
            at = text.find(beginning, end)
    return words


def find_positions(text: str, word: str, *, whole_word: bool) -> Iterator[int]:
    """Where a word stands, on its own or anywhere."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        inside = (at and text[at - 1].isalnum()) or (end < len(text) and text[end].isalnum())
        if not (whole_word and inside):
            yield at
        at = text.find(word, end)


def drop_overlaps(matches: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Drop what begins inside the one before."""
    kept: list[tuple[int, int, str]] = []
    for match in matches:
        if not kept or match[0] >= kept[-1][1]:
            kept.append(match)
    return kept


def find_best_window(text: str, matches: list[tuple[int, int, str]], length: int) -> tuple[int, int]:
    """Find the window with most different stems, then most stems, then the earliest; cut at blanks."""
    best, best_score, left = 0, (0, 0), 0
    seen: dict[str, int] = {}
    for right, (_, end, stem) in enumerate(matches):
        seen[stem] = seen.get(stem, 0) + 1
        while end - matches[left][0] > length * 3 // 4:
            gone = matches[left][2]
            seen[gone] -= 1
            if not seen[gone]:
                del seen[gone]
            left += 1
            if left > right:
                break
        score = (len(seen), right - left + 1)
        if score > best_score:
            best, best_score = left, score
    start = max(0, matches[best][0] - length // 5) if matches else 0
    if start:
        back = (
            text.rfind(" ", max(0, start - WORD_SEARCH_CHARS), start) + 1
        )  # amid a word of code that is longer than most
        start = text.find(" ", start, start + WORD_SEARCH_CHARS) + 1 or back or start
    end = min(len(text), start + length)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + length // 2)
    return start, end


def split_matches(text: str, spans: list[tuple[int, int]]) -> tuple[TextRun, ...]:
    """Divide a text into marked and unmarked runs."""
    pieces, at = [], 0
    for start, end in spans:
        if start > at:
            pieces.append(TextRun(text[at:start]))
        pieces.append(TextRun(text[start:end], is_match=True))
        at = end
    if at < len(text):
        pieces.append(TextRun(text[at:]))
    return tuple(pieces)
