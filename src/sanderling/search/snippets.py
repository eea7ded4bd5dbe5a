"""Build snippets as plain text runs, never HTML."""

import re
from collections.abc import Iterator, Set

from sanderling.search.search_types import TextRun
from sanderling.search.tokenizer import get_stemmer, is_unspaced

MAX_SCAN_CHARS = 60_000  # characters of a page that are searched
FIRST_SCAN_CHARS = 6_000  # searched first: most pages have all terms near the start
SNIPPET_LENGTH = 260
WORD_SEARCH_CHARS = 40  # characters to move a cut to a word boundary; else it is inside a word
_WORD = re.compile(r"[^\W_](?:[^\W_]|[+#'’])*")
_UNACCENTED_LANGUAGES = ("en",)  # a word starts with the first letters of its stem


def build_snippet(text: str, language: str, query_stems: Set[str], length: int = SNIPPET_LENGTH) -> tuple[TextRun, ...]:
    """Cut out the window with most query stems, and mark them."""
    scanned = FIRST_SCAN_CHARS
    flat = " ".join(text[:FIRST_SCAN_CHARS].split())
    matches = find_matches(flat, language, query_stems) if query_stems else []
    start, end = find_best_window(flat, matches, length)
    if len(text) > FIRST_SCAN_CHARS and len({stem for a, b, stem in matches if start <= a and b <= end}) < len(
        query_stems
    ):
        scanned = MAX_SCAN_CHARS
        flat = " ".join(text[:MAX_SCAN_CHARS].split())
        matches = find_matches(flat, language, query_stems)
        start, end = find_best_window(flat, matches, length)
    runs = split_matches(flat[start:end], [(a - start, b - start) for a, b, _ in matches if start <= a and b <= end])
    before = (TextRun("… "),) if start else ()
    after = (TextRun(" …"),) if end < len(flat) or len(text) > scanned else ()
    return (*before, *runs, *after)


def highlight_text(text: str, language: str, query_stems: Set[str]) -> tuple[TextRun, ...]:
    """Mark query stems in a short text."""
    flat = " ".join(text.split())
    return split_matches(flat, [(a, b) for a, b, _ in find_matches(flat, language, query_stems)] if query_stems else [])


def find_matches(text: str, language: str, query_stems: Set[str]) -> list[tuple[int, int, str]]:
    """Return (start, end, stem) of words with query stems."""
    get_stem = get_stemmer(language)
    lowered = text.lower()
    text = lowered if len(lowered) == len(text) else text
    typed = _find_prefix_words(text, query_stems) if language in _UNACCENTED_LANGUAGES else set(_WORD.findall(text))
    words = {w: stem for w in typed for stem in get_stem(w.lower()).split() if stem in query_stems}
    matches = [
        (at, at + len(bigram), bigram)
        for bigram in query_stems
        if is_unspaced(bigram)
        for at in find_positions(text, bigram, whole_word=False)
    ]
    matches += [
        (at, at + len(w), stem)
        for w, stem in words.items()
        if not is_unspaced(w)
        for at in find_positions(text, w, whole_word=True)
    ]
    return drop_overlaps(sorted(matches))


def _find_prefix_words(text: str, query_stems: Set[str]) -> set[str]:
    """Return words that start like a query stem."""
    words = set()
    for prefix in {stem[: 3 if len(stem) > 4 else max(1, len(stem) - 2)] for stem in query_stems}:
        at = text.find(prefix)
        while at >= 0:
            end = at + len(prefix)
            if not (at and text[at - 1].isalnum()) and (word := _WORD.match(text, at)):
                end = max(end, word.end())
                words.add(word[0])
            at = text.find(prefix, end)
    return words


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
