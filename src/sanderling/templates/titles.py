"""How the titles of a site name the kinds of its pages: "Vec Class Reference", "Vec Member List".

The last two words of a title are the name of a kind, after what all titles begin with and end in is taken off; the only
word that is left, if it is left of several titles. Two habits of titles
would give one kind several names, and are undone: a title that goes on after another ("Class Members - Functions" after
"Class Members") is named like it, and a name with one word put in ("Class Template Reference") like the one without.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.urls.tokens import MAX_TEXT_LENGTH, WORD

ENDS = "title-ends:"
DASH = "-"
SAID = re.compile(rf"{WORD.pattern}|(?<=\s)[-–—|](?=\s)")  # words, and dashes between them
LEAST = 4  # pages that bear a title, or a name, before it is known as one
LONGEST = 8  # words of what all titles end in, or of a title after which others go on
WAYS = 8  # titles that go on after one; more, and it is the name of the site
PAIR = 2  # pages with a name that ends in the same word as another
REPEATED = 2  # pages that bear the same title
DIFFER = 0.5  # share of the titles with a name that are different before it
VARIETY = 0.9  # share of the titles with a name that have the beginning of another before it
COMMON = 0.97  # share of titles that end in a word which says nothing, as the name of the site


class Titles(Struct, frozen=True):
    """What the titles of a site have in common."""

    ending: tuple[str, ...] = ()  # words that nearly all end in, the last first
    opening: tuple[str, ...] = ()  # words that nearly all begin with
    begun: frozenset[str] = frozenset()  # titles after which others go on
    varieties: frozenset[str] = frozenset()  # names before which the beginning of another name stands
    telling: frozenset[str] = frozenset()  # words that kinds are called by, like "Reference"
    repeated: frozenset[str] = frozenset()  # names that several pages bear as their whole title

    def kind(self, title: str) -> str | None:
        """The name of a page's kind; None if its title is too short to have one."""
        words = _beginning(_bare(_words(title), self.ending, self.opening), self.begun)
        if len(words) < 2:
            return ENDS + words[0] if words and words[0] in self.repeated else None
        name = _name(words)
        return ENDS + (_shorter(words) if len(words) > 2 and name in self.varieties else name)


def read_titles(titles: Sequence[str]) -> Titles:
    """Learn what the titles of a site have in common."""
    every = [_words(title) for title in titles]
    ending = common_ending(every)
    opening = common_ending([_without(words, ending)[::-1] for words in every])
    bare = [_bare(words, ending, opening) for words in every]
    begun = _begun(Counter(" ".join(words) for words in bare))
    return _named(Titles(ending, opening, begun), [_beginning(words, begun) for words in bare])


def _named(titles: Titles, every: Sequence[Sequence[str]]) -> Titles:
    """Add which names are others with a word put in, and which words kinds are called by."""
    counted = Counter(_name(words) for words in every if len(words) > 1)
    names = frozenset(name for name, count in counted.items() if count >= LEAST)
    longer = Counter(_name(words) for words in every if len(words) > 2 and _shorter(words) in counted)
    varieties = frozenset(name for name, count in longer.items() if count >= VARIETY * counted[name])
    ways = Counter(_name(words) for words in {tuple(words) for words in every if len(words) > 2})
    differing = frozenset(name for name in names if ways[name] >= DIFFER * counted[name])
    whole = Counter(" ".join(words) for words in every if 0 < len(words) < 3)
    repeated = frozenset(title for title, count in whole.items() if count >= REPEATED)
    return replace(titles, varieties=varieties, telling=_telling(counted, differing), repeated=repeated)


def _telling(counted: Mapping[str, int], differing: Iterable[str]) -> frozenset[str]:
    """Words that several names end in, or one name before which titles differ."""
    ends = Counter(_last(name) for name, count in counted.items() if count >= PAIR)
    once = {_last(name) for name in differing}
    known = {_last(name) for name, count in counted.items() if count >= LEAST}
    return frozenset(word for word in known if ends[word] > 1 or word in once)


def _last(name: str) -> str:
    return name.rpartition(" ")[2]


def _name(words: Sequence[str]) -> str:
    return " ".join(words[-2:])


def _shorter(words: Sequence[str]) -> str:
    """The name without the word in its middle."""
    return f"{words[-3]} {words[-1]}"


def common_ending(titles: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The words nearly all titles end in, the last first: the site's own name."""
    words, ending = list(titles), list[str]()
    while len(ending) < LONGEST:
        last = Counter(said[-1] for said in words if said)
        word, count = last.most_common(1)[0] if last else ("", 0)
        if not word or count < COMMON * len(words):
            break
        ending.append(word)
        words = [said[:-1] if said and said[-1] == word else said for said in words]
    return tuple(ending)


def _begun(titles: Mapping[str, int]) -> frozenset[str]:
    """Titles after which others go on, but in few ways: the name of a site is none."""
    ways: Counter[str] = Counter()
    for title in titles:
        ways.update(_beginnings(title.split(" ")))
    return frozenset(title for title, count in titles.items() if 0 < ways[title] <= max(WAYS, count))


def _beginnings(words: Sequence[str]) -> Iterator[str]:
    """What a title goes on after, with a dash between, the shortest first."""
    return (" ".join(words[:at]) for at in range(2, min(len(words), LONGEST + 1)) if words[at] == DASH)


def _words(title: str) -> list[str]:
    return [said if said[0].isalpha() else DASH for said in SAID.findall(title[:MAX_TEXT_LENGTH])]


def _without(words: Sequence[str], ending: Sequence[str]) -> Sequence[str]:
    """The words before those that all titles end in."""
    kept = len(words)
    for word in ending:
        if kept and words[kept - 1] == word:
            kept -= 1
    return words[:kept]


def _bare(words: Sequence[str], ending: Sequence[str], opening: Sequence[str]) -> Sequence[str]:
    """The words between those that all titles begin with and those they end in."""
    return _without(_without(words, ending)[::-1], opening)[::-1]


def _beginning(words: Sequence[str], begun: frozenset[str]) -> Sequence[str]:
    """The first title that this one goes on after, or all of it."""
    first = next((title for title in _beginnings(words) if title in begun), None) if begun else None
    return [word for word in (words if first is None else first.split(" ")) if word != DASH]
