"""URLs that nobody linked to yet: how the URL of a wanted page follows from that of the page that led to it.

Where every wanted page has a hub of its own (`a/index.html` leads to `a/reviews.html`, `Foo.html` to
`Foo-members.html`), half of all fetches go to hubs. When the same step led from hubs to wanted pages twice, it is taken
from hubs that still wait, those first whose URLs are like those it led from. A guess that is not there costs a fetch:
few are ventured until some have come true. And a list is often called like what is on it: `concepts.html`.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from sanderling.templates.logistic import Belief
from sanderling.urls.tokens import split_path, tokenize_url

TAUGHT = 2  # times a step must have been seen
LAST = -1
DARE = 2  # guesses without an answer
START = 0.5  # chance that a step leads somewhere from a URL we know nothing about
LIKELY = 0.6  # chance that is worth a fetch
LOOKED_AT = 200  # URLs among which the likeliest is chosen
FARTHEST = 2  # directories left, and entered
REMEMBERED = 50_000  # URLs that steps are taken from
STEPS = 5_000  # that are remembered


class Step(Struct, frozen=True):
    """From one URL to another of the same host: directories to leave and to enter, and what becomes of the name."""

    leave: tuple[str, ...]
    enter: tuple[str, ...]
    depth: int  # where that happens: below so many directories from the top, or LAST
    cut: str  # end of the name that goes, or all of it
    put: str  # what comes instead
    is_whole: bool  # the whole name goes

    def take(self, url: str) -> str | None:
        """Where the step leads from a URL; None if it cannot be taken from there."""
        folders, name, query = split_path(url)
        start = len(folders) - len(self.leave) if self.depth == LAST else self.depth
        end = start + len(self.leave)
        if query or start < 0 or tuple(folders[start:end]) != self.leave:
            return None
        if (name != self.cut) if self.is_whole else (not name.endswith(self.cut) or name == self.cut):
            return None
        parts = urlsplit(url)
        there = [*folders[:start], *self.enter, *folders[end:], name[: len(name) - len(self.cut)] + self.put]
        return f"{parts.scheme}://{parts.netloc}/{'/'.join(there)}"


def find_step(source: str, target: str) -> Step | None:
    """How one URL follows from another; None if they have too little in common."""
    (left, name, query), (right, other, asked) = split_path(source), split_path(target)
    if query or asked or not other or source == target or source.split("/", 3)[:3] != target.split("/", 3)[:3]:
        return None
    start = _shared(left, right)
    tail = _shared(left[start:][::-1], right[start:][::-1])
    leave, enter = tuple(left[start : len(left) - tail]), tuple(right[start : len(right) - tail])
    if len(leave) > FARTHEST or len(enter) > FARTHEST:
        return None
    depth = start if tail else LAST
    stem, dot, ending = name.rpartition(".")
    if stem and other.startswith(stem):
        return Step(leave, enter, depth, dot + ending, other[len(stem) :], False)
    return Step(leave, enter, depth, name, other, True)


def guess_list_url(sample: str, word: str) -> str:
    """Where a list of pages of a kind may be, beside one of them: `concepts.html`, if they are called concepts."""
    name = urlsplit(sample).path.rpartition("/")[2]
    return urljoin(sample, many(word.lower()) + (f".{name.rpartition('.')[2]}" if "." in name else ""))


def many(word: str) -> str:
    """The word for several: `classes` of `class`, `directories` of `directory`."""
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(?:s|x|z|ch|sh)$", word) else "s")


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many directories two paths have in common at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class StepStats:
    """What is known of a step: how often it was seen, from which URLs it leads somewhere, and which still wait."""

    def __init__(self) -> None:
        self.taught = 0
        self.asked = 0  # guesses without an answer
        self.hits = 0
        self.belief = Belief(START)
        self.sources: dict[str, None] = {}  # in the order they were seen

    def learn(self, source: str, led: bool) -> None:
        """Take in whether the step from a URL led to a wanted page."""
        self.belief.learn(tokenize_url(source), float(led))

    def choose(self) -> list[str]:
        """URLs to take the step from now, the likeliest first."""
        room = DARE + 2 * self.hits - self.asked if self.taught >= TAUGHT else 0
        if room <= 0 or not self.sources:
            return []
        chances = {source: self.belief.chance(tokenize_url(source)) for source in islice(self.sources, LOOKED_AT)}
        likely = sorted(
            (source for source in chances if chances[source] >= LIKELY), key=lambda source: -chances[source]
        )
        for source in likely[:room] or chances:
            del self.sources[source]
        if not likely:  # others have their turn
            self.sources |= dict.fromkeys(chances)
        return likely[:room]


class Guesses:
    """Learns steps from hubs to wanted pages and takes them from other hubs."""

    def __init__(self) -> None:
        self.steps: dict[Step, StepStats] = {}
        self.known: dict[str, None] = {}  # URLs that were seen, in order
        self.open: dict[str, tuple[Step, str]] = {}  # guesses without an answer, and from where

    def see(self, page: str, links: Iterable[str]) -> None:
        """Take in a page with its links: where a step does not lead from it, and new URLs to take steps from."""
        there = dict.fromkeys(links)
        believed = [(step, trust) for step, trust in self.steps.items() if trust.taught >= TAUGHT]
        for step, trust in believed:
            trust.sources.pop(page, None)
            if (target := step.take(page)) is not None and target not in there:
                trust.learn(page, False)
        new = [url for url in there if url not in self.known]
        if len(self.known) + len(new) <= REMEMBERED:
            self.known |= dict.fromkeys(new)
            for step, trust in believed:
                trust.sources |= self._from(step, new)

    def learn(self, url: str, sources: Iterable[str], wanted: bool) -> None:
        """Take in what a page turned out to be, and which pages led to it."""
        if url in self.open:
            step, source = self.open.pop(url)
            trust = self.steps[step]
            trust.asked, trust.hits = trust.asked - 1, trust.hits + wanted
            trust.learn(source, wanted)
        elif wanted:
            for source in sources:
                if source and (found := find_step(source, url)) and len(self.steps) < STEPS:
                    self._teach(found, source)

    def _teach(self, step: Step, source: str) -> None:
        trust = self.steps.setdefault(step, StepStats())
        trust.taught += 1
        trust.learn(source, True)
        if trust.taught == TAUGHT:
            trust.sources = self._from(step, self.known)

    def _from(self, step: Step, urls: Iterable[str]) -> dict[str, None]:
        """URLs from which a step leads to one that is not known."""
        return {url: None for url in urls if (target := step.take(url)) and target not in self.known}

    def venture(self) -> list[str]:
        """The URLs to try now."""
        found = []
        for step, trust in self.steps.items():
            for source in trust.choose():
                url = step.take(source)
                if url and url not in self.known:
                    self.known[url] = None
                    self.open[url] = step, source
                    trust.asked += 1
                    found.append(url)
        return found
