"""Words that say "this is another name for that" (GPC-5), and the one scan that finds them all.

A user's pattern is `[name] better known as *`: the name, some words, the alias; or the other way round. Names never
become part of a search pattern, so a name may hold any character, and ten thousand names cost no more than one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sanderling.errors import UsageError

CueMatch = tuple[int, int, int]
"""Which cue, and where it starts and ends in the bytes of a text."""

CueScanner = Callable[[bytes], Iterable[CueMatch]]


@dataclass(frozen=True, slots=True)
class Cue:
    """Some words between a name and another name."""

    phrase: str
    requires_name: bool = False  # what follows must look like a name: a capital, quotes, or code
    name_first: bool = True  # the name may stand before the words
    name_last: bool = True  # the name may stand after them


# GPC 5.3: better/also/popularly known as, aka. The adverbs are skipped with other small words (aliases_phrases.py).
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
    """Read a pattern such as `[name] better known as *` or `* aka [name]`."""
    match = re.fullmatch(r"\s*(\[name\]|\*)(.+?)(\[name\]|\*)\s*", text, re.IGNORECASE | re.DOTALL)
    words = " ".join(match[2].split()) if match else ""
    if match is None or match[1] == match[3] or len(words) < 2 or "*" in words or len(words) > 80:
        raise UsageError(
            f"{text!r} is no pattern: write the words between [name] and *, as in '[name] better known as *'"
        )
    first = match[1] != "*"
    return Cue(words, name_first=first, name_last=not first)


def build_scanner(cues: tuple[Cue, ...]) -> CueScanner:
    """Build the one scan for all cues; longer ones win over those they contain.

    What is searched for is a cue without its first letter, which is looked at afterwards: so `Also` and `also` are one
    form, and few and long forms make a fast machine. Short cues (AKA) come whole, and are also expected in capitals.
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
    """Keep what has the right letter before it."""
    for form, start, end in candidates:
        for first, number in forms[form]:
            begin = start - len(first)
            if begin >= 0 and data[begin:start].lower() == first.lower():
                yield number, begin, end - data[begin:end].endswith(b" ")
                break


def _build_automaton(forms: list[bytes]) -> CueScanner:
    try:
        from ahocorasick_rs import BytesAhoCorasick, MatchKind
    except ImportError:  # the extra `aliases` is not installed: a slower scan finds the same
        pattern = re.compile(b"|".join(map(re.escape, forms)))
        places = {form: number for number, form in enumerate(forms)}
        return lambda data: ((places[match[0]], match.start(), match.end()) for match in pattern.finditer(data))
    machine = BytesAhoCorasick(forms, matchkind=MatchKind.LeftmostLongest)
    return lambda data: machine.find_matches_as_indexes(data)
