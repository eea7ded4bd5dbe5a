"""Cue phrases between a name and its alias (GPC-5), found in a single scan."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sanderling.errors import UsageError

CueMatch = tuple[int, int, int]
"""Number of the cue, start and end in the bytes of a text."""

CueScanner = Callable[[bytes], Iterable[CueMatch]]


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase between a name and its alias."""

    phrase: str
    requires_name: bool = False  # the alias must look like a name: capitalized, quoted, or code
    name_first: bool = True  # the name may precede the cue
    name_last: bool = True  # the name may follow the cue


# GPC 5.3: better/also/popularly known as, aka. The adverbs are skipped as filler words (noun_phrases.py).
CUES = (
    Cue("known as"),
    Cue("aka"),
    Cue("a.k.a."),
    Cue("a.k.a"),
    Cue("a/k/a"),
    Cue("also called"),
    Cue("sometimes called"),
    Cue("commonly called"),
    Cue("often called"),
    Cue("formerly called"),
    Cue("previously called"),
    Cue("originally called"),
    Cue("formerly", requires_name=True),
    Cue("nicknamed", requires_name=True),
    Cue("dubbed", requires_name=True),
    Cue("(born", requires_name=True),
    Cue("(née", requires_name=True),
    Cue("real name is", requires_name=True),
    Cue("real name was", requires_name=True),
    Cue("birth name is", requires_name=True),
    Cue("birth name was", requires_name=True),
    Cue("stage name", requires_name=True),
    Cue("pen name", requires_name=True),
    Cue("brand name", requires_name=True),
    Cue("brand names", requires_name=True),
    Cue("trade name", requires_name=True),
    Cue("trade names", requires_name=True),
    Cue("code name", requires_name=True),
    Cue("codenamed", requires_name=True),
    Cue("alias for"),
    Cue("alias of"),
    Cue("synonym for"),
    Cue("synonym of"),
    Cue("also referred to as"),
    Cue("sometimes referred to as"),
    Cue("abbreviated as"),
    Cue("abbreviated to"),
    Cue("often abbreviated", requires_name=True),
    Cue("abbreviation for"),
    Cue("abbreviation of"),
    Cue("short for"),
    Cue("stands for"),
    Cue("renamed to", requires_name=True),
    Cue("renamed from", requires_name=True),
    Cue("also spelled"),
)


def parse_pattern(text: str) -> Cue:
    """Parse `[name] better known as *` or `* aka [name]`."""
    match = re.fullmatch(r"\s*(\[name\]|\*)(.+?)(\[name\]|\*)\s*", text, re.IGNORECASE | re.DOTALL)
    words = " ".join(match[2].split()) if match else ""
    if match is None or match[1] == match[3] or len(words) < 2 or "*" in words or len(words) > 80:
        raise UsageError(
            f"{text!r} is not a pattern: write words between [name] and *, such as '[name] better known as *'"
        )
    first = match[1] != "*"
    return Cue(words, name_first=first, name_last=not first)


def build_scanner(cues: tuple[Cue, ...]) -> CueScanner:
    """Build a scanner for all cues. Longer cues win.

    Cues are searched without their first letter, which makes the automaton faster.
    """
    forms: dict[bytes, list[tuple[bytes, int]]] = {}
    for number, cue in enumerate(cues):
        for words in (cue.phrase, cue.phrase.upper())[: 2 if len(cue.phrase) <= 8 else 1]:
            first, rest = (words[:1].encode(), words[1:].encode()) if len(words) > 4 else (b"", f"{words} ".encode())
            forms.setdefault(rest, []).append((first, number))
    ordered = sorted(forms, key=len, reverse=True)
    find = _build_automaton(ordered)
    return lambda data: _check_first_letters(data, find(data), [forms[form] for form in ordered])


def _check_first_letters(
    data: bytes, candidates: Iterable[CueMatch], forms: list[list[tuple[bytes, int]]]
) -> Iterator[CueMatch]:
    for form, start, end in candidates:
        for first, number in forms[form]:
            cue_start = start - len(first)
            if cue_start >= 0 and data[cue_start:start].lower() == first.lower():
                yield number, cue_start, end - data[cue_start:end].endswith(b" ")
                break


def _build_automaton(forms: list[bytes]) -> CueScanner:
    try:
        from ahocorasick_rs import BytesAhoCorasick, MatchKind
    except ImportError:  # without the extra `aliases`, a slower regex finds the same
        pattern = re.compile(b"|".join(map(re.escape, forms)))
        numbers = {form: number for number, form in enumerate(forms)}
        return lambda data: ((numbers[match[0]], match.start(), match.end()) for match in pattern.finditer(data))
    automaton = BytesAhoCorasick(forms, matchkind=MatchKind.LeftmostLongest)
    return lambda data: automaton.find_matches_as_indexes(data)
