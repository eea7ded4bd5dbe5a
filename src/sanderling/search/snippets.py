"""Build snippets as plain text runs, never HTML."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import islice

from sanderling.search.search_types import MAX_BODY_CHARS, TextRun
from sanderling.search.tokenizer import get_stemmer, is_unspaced, split_tokens

SCAN_CHARS = (6_000, 60_000)  # of a page, searched in turn: most pages have all terms near the start
SNIPPET_LENGTH = 260
MAX_MATCHES = 8  # of a stem; of a more frequent one, also those close to rarer stems
WORD_SEARCH_CHARS = 40  # characters to move a cut to a word boundary; else it is inside a word
_WORD = re.compile(r"[^\W_][^\W_+#'’]*+(?:[+#'’]++[^\W_]*+)*+")
_match_word = re.compile(r"[^\W_]*+(?:['’][^\W_]++|[+#]++[^\W_]*+)*+").match
_JOINING_SIGNS = "+#'’"
_WORD_START_TABLE = bytes(c if c >= 128 or chr(c).isalnum() else 32 for c in range(256)).lower()
_NAME_SIGNS = re.compile(r"[+#].*")  # of c++
_UNACCENTED_LANGUAGES = ("en",)  # a word starts with the first letters of its stem

Match = tuple[int, int, str]
"""Start and end of a word, and its stem."""


def build_snippet(text: str, language: str, query_stems: Set[str], length: int = SNIPPET_LENGTH) -> tuple[TextRun, ...]:
    """Cut out the window with most query stems, and mark them."""
    for scanned in SCAN_CHARS:
        searched = _SearchedText(text[:scanned], language, query_stems)
        matches = _find_close_matches(searched, length)
        start, end = find_best_window(text[:scanned], matches, length)
        shown = {stem for a, b, stem in matches if start <= a and b <= end}
        if len(text) <= scanned or len(shown) >= len(query_stems):
            break
    before = (TextRun("… "),) if start else ()
    after = (TextRun(" …"),) if end < len(text) else ()
    return (*before, *highlight_text(text[start:end], language, query_stems), *after)


def highlight_text(text: str, language: str, query_stems: Set[str]) -> tuple[TextRun, ...]:
    """Mark query stems in a short text."""
    flat = " ".join(text.split())
    searched = _SearchedText(flat, language, query_stems)
    matches = drop_overlaps(sorted(match for stem in searched.needles for match in searched.find_stem(stem)))
    return split_matches(flat, [(start, end) for start, end, _ in matches])


class _SearchedText:
    """A text with the strings to search for each stem: far fewer than its words."""

    def __init__(self, text: str, language: str, query_stems: Set[str]) -> None:
        lowered = text.lower()
        self.text = lowered if len(lowered) == len(text) else text  # İ becomes two characters
        self.get_stem = get_stemmer(language)
        self.word_starts = ""  # the text with a space before each word, in English
        self.needles: Mapping[str, Sequence[str]]
        if language in _UNACCENTED_LANGUAGES:
            separated = text.encode("latin-1", "replace").translate(_WORD_START_TABLE)
            self.word_starts = f" {separated.decode('latin-1')}"
            self.needles = {stem: _list_prefixes(stem) for stem in query_stems}
        else:
            self.needles = _find_words(self.text, self.get_stem, query_stems)

    def find_stem(self, stem: str, first: int = 0, last: int = MAX_BODY_CHARS) -> Iterator[Match]:
        """Yield the words with a stem."""
        text, get_stem = self.text, self.get_stem
        if is_unspaced(stem):
            yield from ((match.start(), match.end(), stem) for match in re.compile(stem).finditer(text, first, last))
            return
        for needle in self.needles[stem]:
            pattern = _compile_needle(needle, is_prefix=bool(self.word_starts))
            for match in pattern.finditer(self.word_starts or text, first, last):
                at, end, word = match.start(), match.end() - bool(self.word_starts), match[1]
                if text[end : end + 1] in _JOINING_SIGNS:  # at the end, too
                    end = _match_word(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
                    word = text[at:end]
                stems = get_stem(word.lower())
                if stems == stem or stem in stems.split():
                    yield at, end, stem


@lru_cache(maxsize=1_000)
def _compile_needle(needle: str, *, is_prefix: bool) -> re.Pattern[str]:
    """Compile a search for words that begin so after a space, or for this word. Literals first, which is fast."""
    literal = re.escape(needle)
    return re.compile(rf" ({literal}[^\W_]*)" if is_prefix else rf"({literal})(?<![^\W_]{literal})(?![^\W_])")


def _find_words(text: str, get_stem: Callable[[str], str], query_stems: Set[str]) -> dict[str, list[str]]:
    """Return the words of a text with each stem."""
    found: dict[str, list[str]] = {stem: [] for stem in query_stems}
    tokens = set(split_tokens(text) if text.islower() else _WORD.findall(text)) if query_stems else ()
    for token in [token for token in tokens if not query_stems.isdisjoint(get_stem(token.lower()).split())]:
        for word in _WORD.findall(token):
            for stem in {*get_stem(word.lower()).split()} & query_stems:
                found[stem].append(word)
    return found


def _find_close_matches(searched: _SearchedText, length: int) -> list[Match]:
    """Return the first matches of each stem, and of frequent stems those close to others."""
    found = [[*islice(searched.find_stem(stem), MAX_MATCHES)] for stem in searched.needles]
    found.sort(key=len)
    matches: list[Match] = []
    for first_matches in found:
        if len(first_matches) == MAX_MATCHES:
            _, searched_until, stem = first_matches[-1]
            spans = _merge_surroundings((start for start, _, _ in matches), length, searched_until)
            matches += [match for first, last in spans for match in searched.find_stem(stem, first, last)]
        matches += first_matches
    return drop_overlaps(sorted(matches))


def _merge_surroundings(places: Iterable[int], length: int, first: int) -> list[tuple[int, int]]:
    """Return merged spans around places, from a position on."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((max(first, at - length), at + length) for at in places if at + length > first):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    return spans


@lru_cache(maxsize=1_000)
def _list_prefixes(stem: str) -> list[str]:
    """Return the letters that an English word shares with its stem: only the last two may differ, of short ones one."""
    return [] if is_unspaced(stem) else [_NAME_SIGNS.sub("", stem[: max(1, len(stem) - 1 - (len(stem) > 4))])]


def drop_overlaps(matches: list[Match]) -> list[Match]:
    kept: list[Match] = []
    for match in matches:
        if not kept or match[0] >= kept[-1][1]:
            kept.append(match)
    return kept


def find_best_window(text: str, matches: list[Match], length: int) -> tuple[int, int]:
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
