"""Build snippets as plain text runs, never HTML."""

import re
from collections.abc import Iterator, Set
from functools import lru_cache
from operator import itemgetter

from sanderling.search.search_types import TextRun
from sanderling.search.tokenizer import get_stemmer, is_unspaced

SCAN_CHARS = (6_000, 60_000)  # of a page, searched in turn: most pages have all terms near the start
SNIPPET_LENGTH = 260
MAX_MATCHES = 60  # words that are compared in the whole text; more are frequent words
MAX_PLACES = 16  # of the rarest word, around which the others are searched
WORD_SEARCH_CHARS = 40  # characters to move a cut to a word boundary; else it is inside a word
_REST = r"[^\W_+#'’]*+(?:[+#'’]++[^\W_]*+)*+"
_WORD = re.compile(r"[^\W_]" + _REST)
_UNACCENTED_LANGUAGES = ("en",)  # a word starts with the first letters of its stem


def build_snippet(text: str, language: str, query_stems: Set[str], length: int = SNIPPET_LENGTH) -> tuple[TextRun, ...]:
    """Cut out the window with most query stems, and mark them."""
    for scanned in SCAN_CHARS:
        start, end, shown = _choose_window(text[:scanned], language, query_stems, length)
        if len(text) <= scanned or shown >= len(query_stems):
            break
    before = (TextRun("… "),) if start else ()
    after = (TextRun(" …"),) if end < len(text) else ()
    return (*before, *highlight_text(text[start:end], language, query_stems), *after)


def _choose_window(text: str, language: str, query_stems: Set[str], length: int) -> tuple[int, int, int]:
    """Return the window with most distinct query stems, and their number.

    If words are frequent, only the surroundings of the rarest are read: a window with all stems is among them.
    """
    lowered = text.lower()
    prefixes = {stem: lowered.count(_get_prefix(stem)) for stem in query_stems}
    if sum(prefixes.values()) <= MAX_MATCHES or language not in _UNACCENTED_LANGUAGES or len(lowered) != len(text):
        return _find_window(text, find_matches(text, language, query_stems) if query_stems else [], length)
    best = (0, 0, 0)
    for left_out, stem in enumerate(sorted(prefixes, key=lambda stem: prefixes[stem])):
        matches: list[tuple[int, int, str]] = []
        places = [at for at, _, _ in find_matches(lowered, language, {stem})[:MAX_PLACES]]
        for first, last in _list_surroundings(lowered, places, length):
            matches += [(first + a, first + b, s) for a, b, s in find_matches(text[first:last], language, query_stems)]
        best = max(best, _find_window(text, matches, length), key=itemgetter(2))
        if best[2] >= len(query_stems) - left_out - 1:  # no other window has more
            break
    return best if best[2] else _find_window(text, [], length)


def _find_window(text: str, matches: list[tuple[int, int, str]], length: int) -> tuple[int, int, int]:
    start, end = find_best_window(text, matches, length)
    return start, end, len({stem for a, b, stem in matches if start <= a and b <= end})


def _list_surroundings(text: str, places: list[int], length: int) -> list[tuple[int, int]]:
    """Return merged spans of whole words around places."""
    spans: list[tuple[int, int]] = []
    for at in places:
        first = text.rfind(" ", 0, max(0, at - length)) + 1
        last = at + 2 * length
        if spans and first <= spans[-1][1]:
            spans[-1] = spans[-1][0], last
        else:
            spans.append((first, last))
    return spans


def highlight_text(text: str, language: str, query_stems: Set[str]) -> tuple[TextRun, ...]:
    """Mark query stems in a short text."""
    flat = " ".join(text.split())
    return split_matches(flat, [(a, b) for a, b, _ in find_matches(flat, language, query_stems)] if query_stems else [])


def find_matches(text: str, language: str, query_stems: Set[str]) -> list[tuple[int, int, str]]:
    """Return (start, end, stem) of words with query stems."""
    get_stem = get_stemmer(language)
    lowered = text.lower()
    text = lowered if len(lowered) == len(text) else text
    matches = [
        (at, at + len(bigram), bigram)
        for bigram in query_stems
        if is_unspaced(bigram)
        for at in find_positions(text, bigram, whole_word=False)
    ]
    typed = _find_prefix_words(text, query_stems) if language in _UNACCENTED_LANGUAGES else set(_WORD.findall(text))
    words = {w: stem for w in typed for stem in get_stem(w.lower()).split() if stem in query_stems}
    matches += [
        (at, at + len(w), stem)
        for w, stem in words.items()
        if not is_unspaced(w)
        for at in find_positions(text, w, whole_word=True)
    ]
    return drop_overlaps(sorted(matches))


def _find_prefix_words(text: str, query_stems: Set[str]) -> set[str]:
    """Return words that start like a query stem, and parts of others."""
    return {word for stem in query_stems for word in _compile_prefix(_get_prefix(stem)).findall(text)}


@lru_cache(maxsize=1_000)
def _compile_prefix(prefix: str) -> re.Pattern[str]:
    return re.compile(re.escape(prefix) + _REST)  # starts with a literal, which is fast to search


def _get_prefix(stem: str) -> str:
    """Return the letters that an English word shares with its stem: only the last two may differ, of short ones one."""
    return stem[: max(1, len(stem) - 1 - (len(stem) > 4))]


def find_positions(text: str, word: str, *, whole_word: bool) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        inside = (at and text[at - 1].isalnum()) or (end < len(text) and text[end].isalnum())
        if not (whole_word and inside):
            yield at
        at = text.find(word, end)


def drop_overlaps(matches: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    kept: list[tuple[int, int, str]] = []
    for match in matches:
        if not kept or match[0] >= kept[-1][1]:
            kept.append(match)
    return kept


def find_best_window(text: str, matches: list[tuple[int, int, str]], length: int) -> tuple[int, int]:
    """Return the window with most distinct stems, then most matches."""
    best, best_score, left = 0, (0, 0), 0
    seen: dict[str, int] = {}
    for right, (_, end, stem) in enumerate(matches):
        seen[stem] = seen.get(stem, 0) + 1
        while end - matches[left][0] > length * 3 // 4:
            stem_out = matches[left][2]
            seen[stem_out] -= 1
            if not seen[stem_out]:
                del seen[stem_out]
            left += 1
            if left > right:
                break
        score = (len(seen), right - left + 1)
        if score > best_score:
            best, best_score = left, score
    start = max(0, matches[best][0] - length // 5) if matches else 0
    if start:
        back = text.rfind(" ", max(0, start - WORD_SEARCH_CHARS), start) + 1  # used inside a very long word
        start = text.find(" ", start, start + WORD_SEARCH_CHARS) + 1 or back or start
    end = min(len(text), start + length)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + length // 2)
    return start, end


def split_matches(text: str, spans: list[tuple[int, int]]) -> tuple[TextRun, ...]:
    runs, at = [], 0
    for start, end in spans:
        if start > at:
            runs.append(TextRun(text[at:start]))
        runs.append(TextRun(text[start:end], is_match=True))
        at = end
    if at < len(text):
        runs.append(TextRun(text[at:]))
    return tuple(runs)
