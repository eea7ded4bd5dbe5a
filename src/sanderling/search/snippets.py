"""The piece of a page that shows why it was found. Only plain text with marks leaves this module, never HTML."""

import re
from collections.abc import Iterator, Set

from sanderling.search.search_types import Piece
from sanderling.search.tokenizer import remembered, unspaced

LOOKED_AT = 60_000  # characters of a page searched for the best piece
FIRST = 6_000  # of these first: most pages have all words close together early on
LENGTH = 260
NEAR = 40  # characters within which a piece begins at a word; beyond it, or where none are apart, anywhere
_WORD = re.compile(r"[^\W_](?:[^\W_]|[+#'’])*")
_FOLDLESS = ("en",)  # written without accents, so that a word begins with the letters of its stem


def snippet(text: str, language: str, wanted: Set[str], length: int = LENGTH) -> tuple[Piece, ...]:
    """Cut the stretch in which most of the wanted stems stand close together, marked."""
    looked_at = FIRST
    flat = " ".join(text[:FIRST].split())
    found = matches(flat, language, wanted) if wanted else []
    start, end = best_stretch(flat, found, length)
    if len(text) > FIRST and len({stem for a, b, stem in found if start <= a and b <= end}) < len(wanted):
        looked_at = LOOKED_AT
        flat = " ".join(text[:LOOKED_AT].split())
        found = matches(flat, language, wanted)
        start, end = best_stretch(flat, found, length)
    pieces = marked(flat[start:end], [(a - start, b - start) for a, b, _ in found if start <= a and b <= end])
    before = (Piece("… "),) if start else ()
    after = (Piece(" …"),) if end < len(flat) or len(text) > looked_at else ()
    return (*before, *pieces, *after)


def highlighted(text: str, language: str, wanted: Set[str]) -> tuple[Piece, ...]:
    """Mark the wanted stems in a short text, such as a title."""
    flat = " ".join(text.split())
    return marked(flat, [(a, b) for a, b, _ in matches(flat, language, wanted)] if wanted else [])


def matches(text: str, language: str, wanted: Set[str]) -> list[tuple[int, int, str]]:
    """Give start, end and stem of every wanted word, in order."""
    stem_of = remembered(language)
    low = text.lower()
    text = low if len(low) == len(text) else text
    spelt = _beginning_as(text, wanted) if language in _FOLDLESS else set(_WORD.findall(text))
    words = {w: stem for w in spelt for stem in stem_of(w.lower()).split() if stem in wanted}
    found = [(at, at + len(pair), pair) for pair in wanted if unspaced(pair) for at in places(text, pair, whole=False)]
    found += [
        (at, at + len(w), stem) for w, stem in words.items() if not unspaced(w) for at in places(text, w, whole=True)
    ]
    return apart(sorted(found))


def _beginning_as(text: str, wanted: Set[str]) -> set[str]:
    """Words that begin as one of the stems does; stemming changes the end of a word, seldom its first letters."""
    words = set()
    for beginning in {stem[: 3 if len(stem) > 4 else max(1, len(stem) - 2)] for stem in wanted}:
        at = text.find(beginning)
        while at >= 0:
            end = at + len(beginning)
            if not (at and text[at - 1].isalnum()) and (word := _WORD.match(text, at)):
                end = max(end, word.end())
                words.add(word[0])
            at = text.find(beginning, end)
    return words


def places(text: str, word: str, *, whole: bool) -> Iterator[int]:
    """Where a word stands, on its own or anywhere."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        inside = (at and text[at - 1].isalnum()) or (end < len(text) and text[end].isalnum())
        if not (whole and inside):
            yield at
        at = text.find(word, end)


def apart(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Drop what begins inside the one before."""
    kept: list[tuple[int, int, str]] = []
    for match in found:
        if not kept or match[0] >= kept[-1][1]:
            kept.append(match)
    return kept


def best_stretch(text: str, found: list[tuple[int, int, str]], length: int) -> tuple[int, int]:
    """Find the window with most different stems, then most stems, then the earliest; cut at blanks."""
    best, best_score, left = 0, (0, 0), 0
    seen: dict[str, int] = {}
    for right, (_, end, stem) in enumerate(found):
        seen[stem] = seen.get(stem, 0) + 1
        while end - found[left][0] > length * 3 // 4:
            gone = found[left][2]
            seen[gone] -= 1
            if not seen[gone]:
                del seen[gone]
            left += 1
            if left > right:
                break
        score = (len(seen), right - left + 1)
        if score > best_score:
            best, best_score = left, score
    start = max(0, found[best][0] - length // 5) if found else 0
    if start:
        back = text.rfind(" ", max(0, start - NEAR), start) + 1  # amid a word of code that is longer than most
        start = text.find(" ", start, start + NEAR) + 1 or back or start
    end = min(len(text), start + length)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + length // 2)
    return start, end


def marked(text: str, spans: list[tuple[int, int]]) -> tuple[Piece, ...]:
    """Divide a text into marked and unmarked runs."""
    pieces, at = [], 0
    for start, end in spans:
        if start > at:
            pieces.append(Piece(text[at:start]))
        pieces.append(Piece(text[start:end], hit=True))
        at = end
    if at < len(text):
        pieces.append(Piece(text[at:]))
    return tuple(pieces)
