"""Places where a text gives another name to a wanted one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sanderling.search.aliases.cues import CUES, Cue, Scan, scanner
from sanderling.search.aliases.noun_phrases import before_cue, phrase_after, phrase_before, sentence_around

WINDOW = 240  # bytes looked at on each side of a cue
MARKS = "\"“”„«»‘’'`.,;:()[]{}"


class Mention(NamedTuple):
    """One place where a text says that a name has another."""

    name: str
    alias: str
    cue: str
    sentence: str
    source: str


def fold(text: str) -> str:
    """Spell a name so that case, spaces and quotes make no difference."""
    return " ".join(text.split()).strip(MARKS).casefold()


class Wanted:
    """The names asked for, and the scan for what is said of them."""

    def __init__(self, names: Iterable[str], cues: Sequence[Cue] = CUES) -> None:
        self.names = {fold(name): name for name in names if fold(name)}
        self.cues = tuple(cues)
        self.scan: Scan = scanner(self.cues)
        self.most_words = max((len(name.split()) for name in self.names), default=0)

    def ends_with(self, text: str) -> str | None:
        """Give the longest wanted name that a text ends with."""
        words = text[-WINDOW:].split()[-self.most_words :]
        return next((name for n in range(len(words)) if (name := self.names.get(fold(" ".join(words[n:]))))), None)

    def begins_with(self, text: str) -> str | None:
        """Give the longest wanted name that a text begins with."""
        words = text[:WINDOW].split(maxsplit=self.most_words + 1)[: self.most_words + 1]
        while words and words[0].lower() in ("a", "an", "the"):
            words.pop(0)
        counts = range(min(len(words), self.most_words), 0, -1)
        return next((name for n in counts if (name := self.names.get(fold(" ".join(words[:n]))))), None)


def mentions(source: str, text: str | bytes, wanted: Wanted) -> Iterator[Mention]:
    """Find every place in a text that gives another name to a wanted one."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    for which, start, end in wanted.scan(data):
        if _inside_a_word(data, start, end):
            continue
        left = data[max(0, start - WINDOW) : start].decode("utf-8", "ignore")
        right = data[end : end + WINDOW].decode("utf-8", "ignore")
        for name, alias in _pairs(left, right, wanted, wanted.cues[which]):
            cue = data[start:end].decode("utf-8", "ignore")
            yield Mention(name, alias, cue.lower(), sentence_around(left, cue, right), source)


def _inside_a_word(data: bytes, start: int, end: int) -> bool:
    before, after = data[start - 1 : start], data[end : end + 1]
    return (before.isalnum() and data[start : start + 1].isalnum()) or after.isalnum()


def _pairs(left: str, right: str, wanted: Wanted, cue: Cue) -> Iterator[tuple[str, str]]:
    """Give (wanted name, alias) as the two sides of a cue say."""
    ends = list(before_cue(left))
    if cue.name_first:
        name = next((found for text in ends if (found := wanted.ends_with(text))), None)
        if name is not None:
            for alias in _listed(right, cue.named):
                if fold(alias) != fold(name):
                    yield name, alias
    name = wanted.begins_with(right) if cue.name_last else None
    if name is not None:
        alias = phrase_before(ends[0], cue.named)
        if alias and fold(alias) != fold(name):
            yield name, alias


def _listed(right: str, named: bool) -> Iterator[str]:
    """Give the alias after a cue, and those that follow it in quotes or capitals: `A, also known as B, C or "D"`."""
    rest = right
    for number in range(4):
        alias = phrase_after(rest, named or number > 0)
        if not alias:
            return
        yield alias
        place = rest.find(alias)
        if place < 0:
            return
        rest = rest[place + len(alias) :].lstrip("\"”’'`")
        for joint in (", or ", ", and ", " or ", ", ", " and "):
            if rest.startswith(joint) and (number < 3) and rest[len(joint) : len(joint) + 1] in "\"“‘'`":
                rest = rest[len(joint) :]
                break
        else:
            return
