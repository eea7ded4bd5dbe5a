"""Find places where a text gives an alias of a name."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sanderling.search.aliases.cues import CUES, Cue, CueScanner, build_scanner
from sanderling.search.aliases.noun_phrases import (
    extract_sentence,
    list_name_contexts,
    take_leading_phrase,
    take_trailing_phrase,
)

WINDOW_BYTES = 240  # context on each side of a cue
PUNCTUATION = "\"“”„«»‘’'`.,;:()[]{}"


class Mention(NamedTuple):
    name: str
    alias: str
    cue: str
    sentence: str
    source: str


def fold_name(text: str) -> str:
    """Normalize case, whitespace and quotes."""
    return " ".join(text.split()).strip(PUNCTUATION).casefold()


class NameMatcher:
    def __init__(self, names: Iterable[str], cues: Sequence[Cue] = CUES) -> None:
        self.names = {fold_name(name): name for name in names if fold_name(name)}
        self.cues = tuple(cues)
        self.scan: CueScanner = build_scanner(self.cues)
        self.max_words = max((len(name.split()) for name in self.names), default=0)

    def match_end(self, text: str) -> str | None:
        words = text[-WINDOW_BYTES:].split()[-self.max_words :]
        return next((name for n in range(len(words)) if (name := self.names.get(fold_name(" ".join(words[n:]))))), None)

    def match_start(self, text: str) -> str | None:
        words = text[:WINDOW_BYTES].split(maxsplit=self.max_words + 1)[: self.max_words + 1]
        while words and words[0].lower() in ("a", "an", "the"):
            words.pop(0)
        counts = range(min(len(words), self.max_words), 0, -1)
        return next((name for n in counts if (name := self.names.get(fold_name(" ".join(words[:n]))))), None)


def find_mentions(source: str, text: str | bytes, matcher: NameMatcher) -> Iterator[Mention]:
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    for which, start, end in matcher.scan(data):
        if _is_inside_word(data, start, end):
            continue
        left = data[max(0, start - WINDOW_BYTES) : start].decode("utf-8", "ignore")
        right = data[end : end + WINDOW_BYTES].decode("utf-8", "ignore")
        for name, alias in _find_pairs(left, right, matcher, matcher.cues[which]):
            cue = data[start:end].decode("utf-8", "ignore")
            yield Mention(name, alias, cue.lower(), extract_sentence(left, cue, right), source)


def _is_inside_word(data: bytes, start: int, end: int) -> bool:
    before, after = data[start - 1 : start], data[end : end + 1]
    return (before.isalnum() and data[start : start + 1].isalnum()) or after.isalnum()


def _find_pairs(left: str, right: str, matcher: NameMatcher, cue: Cue) -> Iterator[tuple[str, str]]:
    """Yield (name, alias) around a cue."""
    contexts = list(list_name_contexts(left))
    if cue.name_first:
        name = next((found for text in contexts if (found := matcher.match_end(text))), None)
        if name is not None:
            for alias in _read_alias_list(right, cue.requires_name):
                if fold_name(alias) != fold_name(name):
                    yield name, alias
    name = matcher.match_start(right) if cue.name_last else None
    if name is not None:
        alias = take_trailing_phrase(contexts[0], cue.requires_name)
        if alias and fold_name(alias) != fold_name(name):
            yield name, alias


def _read_alias_list(right: str, requires_name: bool) -> Iterator[str]:
    """Yield the aliases after a cue: `A, also known as B, "C" or "D"`."""
    rest = right
    for number in range(4):
        alias = take_leading_phrase(rest, requires_name or number > 0)
        if not alias:
            return
        yield alias
        position = rest.find(alias)
        if position < 0:
            return
        rest = rest[position + len(alias) :].lstrip("\"”’'`")
        for separator in (", or ", ", and ", " or ", ", ", " and "):
            if rest.startswith(separator) and (number < 3) and rest[len(separator) : len(separator) + 1] in "\"“‘'`":
                rest = rest[len(separator) :]
                break
        else:
            return
