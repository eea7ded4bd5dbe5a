"""Split and join compounds of Germanic languages and Finnish by the vocabulary of the index.

Koehn and Knight, "Empirical Methods for Compound Splitting" (EACL 2003): of all splits into known words, the one with
the greatest geometric mean of frequencies. Unlike theirs, a known compound is split too: parts only add weaker matches.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import permutations

from sanderling.search.tokenizer import MAX_WORD_LENGTH, UNSTEMMED, is_stop_word, stem_text

COMPOUND_LANGUAGES = frozenset(("da", "de", "fi", "nl", "no", "sv"))
LINKING_ELEMENTS = ("", "s", "es", "n", "en", "er", "e")  # between two parts; also the common inflections
MIN_PART_LENGTH = 3
MAX_PARTS = 4
MAX_WORDS = 6  # of a query, split and joined

FrequencyLookup = Callable[[str], int]
"""Returns the number of documents with a stem."""


def split_compound(word: str, language: str, get_frequency: FrequencyLookup) -> tuple[str, ...]:
    """Return the stems of the parts, or () if the word is no compound of known words."""
    folded = stem_text(word, UNSTEMMED)
    if language not in COMPOUND_LANGUAGES or not folded.isalpha() or len(folded) > MAX_WORD_LENGTH:
        return ()

    @cache
    def score_part(start: int, end: int) -> tuple[float, str]:
        """Return the log frequency and the stem of a part, with or without a linking element at its end."""
        options = [(0.0, "")]
        for element in LINKING_ELEMENTS if end < len(folded) else ("",):
            part = folded[start:end].removesuffix(element)
            if len(part) >= MIN_PART_LENGTH and folded[start:end] == part + element:
                stem = stem_text(part, language)
                frequency = 0 if " " in stem or is_stop_word(part, language) else get_frequency(stem)
                options.append((math.log(frequency + 1) if frequency else 0.0, stem))
        return max(options)

    splits = list(_list_splits(len(folded), lambda start, end: score_part(start, end)[0] > 0))
    if not splits:
        return ()
    best = max(splits, key=lambda split: (sum(score_part(*part)[0] for part in split) / len(split), -len(split)))
    return tuple(score_part(*part)[1] for part in best)


def _list_splits(length: int, is_part: Callable[[int, int], bool]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the splits of a word into two to `MAX_PARTS` parts."""
    pending: list[tuple[tuple[int, int], ...]] = [()]
    while pending:
        split = pending.pop()
        start = split[-1][1] if split else 0
        if split and start == length and len(split) > 1:
            yield split
        if len(split) < MAX_PARTS:
            ends = range(start + MIN_PART_LENGTH, length + 1)
            pending += [(*split, (start, end)) for end in ends if (start, end) != (0, length) and is_part(start, end)]


def join_words(words: Sequence[str], language: str, get_frequency: FrequencyLookup) -> list[str]:
    """Return the stems of indexed compounds of two of the words, in either order."""
    if language not in COMPOUND_LANGUAGES:
        return []
    folded = [stem_text(word, UNSTEMMED) for word in words[:MAX_WORDS]]
    plain = [word for word in folded if word.isalpha() and MIN_PART_LENGTH <= len(word) <= MAX_WORD_LENGTH]
    compounds = {
        stem_text(form + element + last, language)
        for first, last in permutations(plain, 2)
        for form in _list_base_forms(first)
        for element in LINKING_ELEMENTS
    }
    return sorted(stem for stem in compounds if get_frequency(stem))


def _list_base_forms(word: str) -> set[str]:
    """Return the word with and without its ending: compounds begin with Drucker, not Druckern."""
    forms = {word.removesuffix(element) for element in LINKING_ELEMENTS}
    return {form for form in forms if len(form) >= MIN_PART_LENGTH}
