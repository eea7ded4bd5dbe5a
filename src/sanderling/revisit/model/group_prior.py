"""What is usual in a group of pages: how their rates of change are spread. Few pages think as their whole site does.

Pages of one folder, ending or name are often alike: legal notes rarely change, lists of news often do. What is thought
of a page before its own visits tell is a mixture of what is usual in its groups; which kind of group knows best is
learned for every site by how well it foretold what visits found.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from msgspec import Struct

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.change_rate import WEB, Row

KINDS = ("place", "ending", "name")  # which of the three tells most is learned per site


class Kin(NamedTuple):
    """The groups a page belongs to, as keys within its site."""

    site: str
    places: tuple[str, ...]  # its directory and the two highest above it, outermost first
    ending: str
    name: str
    leaves: tuple[str, str, str]  # the closest of each kind; an empty key is the site


@lru_cache(64)  # asked for twice or thrice in a row; what is kept longer only leaves holes in memory
def kin_of(url: str) -> Kin:
    """Read the groups off a URL: `https://a/de/doc/list.html.fr` is of /de, /de/doc, *.fr and list.*"""
    scheme, _, rest = url.partition("#")[0].partition("?")[0].partition("://")
    host, _, path = rest.partition("/")
    folders, slash, name = path.rstrip("/").rpartition("/")
    stem, _, endings = name.partition(".")
    places = _places(folders) if slash else ()
    leaves = (places[-1] if places else "", f"*.{endings.rpartition('.')[2]}", f"{stem}.*")
    return Kin(f"{scheme}://{host}", places, leaves[1], leaves[2], leaves)


@lru_cache(64)  # neighbours come together
def _places(folder: str) -> tuple[str, ...]:
    folders = folder.split("/")
    depth = len(folders)
    levels = (1, 2, depth) if depth > 2 else range(1, depth + 1)
    return tuple("/" + "/".join(folders[:level]) for level in levels)


SHRINK = 8.0  # pages whose word that of the whole site counts for in a group
FEWEST = 32  # pages a site counts as, at least, when its habits are moved
MOST = 4096  # groups of one site; the smallest are forgotten, and all of one page together
PACE = 0.01  # how fast the kind that knows best is learned
LEAST = 0.01  # weight a kind keeps, so that it can come back


class Habit(Struct):
    """The pages of one group, and how probable each rate is among them."""

    pages: int
    prior: Row


class Habits:
    """What is usual on one site and in its groups."""

    def __init__(self, prior: Row = WEB) -> None:
        self.prior = prior  # of the whole site
        self.pages = 0
        self.groups: dict[str, Habit] = {}
        self.single: set[int] = set()  # hashes of the groups of one page: most pages have a name of their own
        self.weights = [1 / len(KINDS)] * len(KINDS)

    def enter(self, kin: Kin) -> None:
        """One page more."""
        self.pages += 1
        for key in filter(None, kin.leaves):
            if (habit := self.groups.get(key)) is not None:
                habit.pages += 1
            else:
                self._begin(key)

    def leave(self, kin: Kin) -> None:
        """One page less."""
        self.pages = max(self.pages - 1, 0)
        for key in kin.leaves:
            if (habit := self.groups.get(key)) is None:
                self.single.discard(mark_of(key))
                continue
            habit.pages -= 1
            if habit.pages <= 0:
                del self.groups[key]

    def of(self, kin: Kin) -> Row:
        """How probable each rate is for a page nothing else is known of."""
        words = self._words(kin)
        if words[0] is words[1] is words[2]:  # as at a first visit
            return words[0]
        (a, one), (b, other), (c, third) = zip(self.weights, words, strict=True)
        return [a * x + b * y + c * z for x, y, z in zip(one, other, third, strict=True)]

    def judge(self, kin: Kin, evidence: Sequence[float], likelihood: Row) -> None:
        """Weigh the kinds of group by how probable each held what was found of one of its pages."""
        words = self._words(kin)
        if words[0] is words[1] is words[2]:
            return
        told = [old * new for old, new in zip(evidence, likelihood, strict=True)]
        chances = [change_rate.dot(word, told) / (change_rate.dot(word, list(evidence)) or 1.0) for word in words]
        self.weights = judged(self.weights, chances)

    def learn(self, kin: Kin, evidence: Sequence[float], vote: float) -> None:
        """Move what is usual towards one of the pages; `vote` is the time it speaks for, in mean intervals."""
        self.prior = change_rate.moved(
            self.prior, *change_rate.belief(evidence, self.prior), vote / max(self.pages, FEWEST)
        )
        for key in kin.leaves:
            habit = self.groups.get(key)
            if habit is not None and habit.pages > 1:
                self._learn(habit, evidence, min(vote / habit.pages, 1.0))

    def _learn(self, habit: Habit, evidence: Sequence[float], share: float) -> None:
        weights, total = change_rate.belief(evidence, habit.prior)
        above = SHRINK / (habit.pages + SHRINK)
        keep, own, word = 1 - share, share * (1 - above) / total, share * above
        habit.prior = [
            keep * old + own * new + word * usual
            for old, new, usual in zip(habit.prior, weights, self.prior, strict=True)
        ]

    def _words(self, kin: Kin) -> list[Row]:
        """What each kind of group says; the site speaks for those that have but one page."""
        groups = map(self.groups.get, kin.leaves)
        return [habit.prior if habit is not None and habit.pages > 1 else self.prior for habit in groups]

    def _begin(self, key: str) -> None:
        """Note the first page of a group; with the second it has something to say."""
        mark = mark_of(key)
        if mark not in self.single:
            if len(self.single) >= MOST:
                self.single.clear()
            self.single.add(mark)
            return
        self.single.discard(mark)
        if len(self.groups) >= MOST:
            self._forget()
        self.groups[key] = Habit(2, self.prior)

    def _forget(self) -> None:
        """Drop the smaller half of the groups."""
        kept = sorted(self.groups.items(), key=lambda item: item[1].pages, reverse=True)[: MOST // 2]
        self.groups = dict(kept)


def mark_of(key: str) -> int:
    """Hash the key of a group; two alike are taken for one, and that does little harm."""
    return crc32(key.encode("utf-8", "replace"))


def judged(weights: list[float], chances: list[float]) -> list[float]:
    """The weights of several voices after each said how probable it held what was found."""
    said = [weight * chance for weight, chance in zip(weights, chances, strict=True)]
    total = sum(said)
    if total <= 0:
        return weights
    moved = [max(weight * (1 - PACE) + PACE * word / total, LEAST) for weight, word in zip(weights, said, strict=True)]
    return [weight / sum(moved) for weight in moved]
