"""Which page led to which: the links that wait, who showed them first, and what became of them.

A page is worth what its links turn out to be worth. When it comes in that is a guess; every link that is followed later
corrects it, so a list that was read before anything was known of the site is known for a list in the end.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sanderling.templates.link_model import LinkSeen, Navigator
from sanderling.templates.url_guess import Guesses

REMEMBERED = 50_000  # waiting URLs that are scored again
WAYS = 4  # links to one URL that are remembered
PER_KIND = 2  # links of one place, or of one place and kind, that teach
POINTERS = 3  # wanted pages that must link to a page before it may be their list
LISTED = 0.7  # worth of a page that many wanted pages, and no others, link to
HOPED = 0.05  # worth from which it counts whether such a page was a list
KNOWN = 0.5  # weight of a link to a page we know already
UNTRIED = 0.05  # weight of a link of which nothing is known: most links lead elsewhere
COUNTS = 0.3  # chance of a link that counts for its page
CORRECTS = 0.1  # how far a guess was off before it is corrected
CORRECTION = 0.3  # weight of that


class Arrival(Struct, frozen=True):
    """A page that was just stored, with its links: id, URL, anchor, and where each stands if that is known."""

    id: int
    url: str
    title: str
    signature: bytes
    links: Sequence[tuple[int, LinkSeen]] = ()


class LinkOutcomes:
    """Tells the navigator what came of the links it was asked about."""

    def __init__(self, navigator: Navigator, samples: Iterable[str]) -> None:
        self.navigator = navigator
        self.ways: dict[int, list[LinkSeen]] = {}  # to URLs that wait
        self.kinds: dict[str, float] = dict.fromkeys(samples, 1.0)  # pages we know, and how surely they are wanted
        self.unled = set(self.kinds)  # samples that no page led to yet
        self.came: dict[str, list[LinkSeen]] = {}  # the ways to pages that we know
        self.brought: defaultdict[str, float] = defaultdict(float)  # wanted pages that each page leads to
        self.shown: dict[str, tuple[str, float]] = {}  # who showed a waiting URL first, and what it seemed worth
        self.guesses = Guesses()
        self.pointed: dict[int, list[int]] = {}  # other pages, and wanted ones, that link to a URL that waits
        self.seen = [0, 0]  # other pages, and wanted ones, that came in
        self.lists = [0, 0]  # pages that only wanted pages linked to, and those of them that led on

    def take_in(self, page: Arrival, wanted: float) -> list[LinkSeen]:
        """Learn from a page: how it was reached, and where it leads. Returns the ways to it."""
        ways = self.came[page.url] = self.ways.pop(page.id, [])
        listed = self.listed(page.id)
        self.pointed.pop(page.id, None)
        self.kinds[page.url] = wanted
        self._learn_from_known(page)
        self._note_new(page)
        self._note_pointed(page, wanted >= KNOWN)
        if listed >= HOPED:
            self.lists[0] += 1
            self.lists[1] += self.brought[page.url] >= 1
        self.guesses.see(page.url, [link.url for _, link in page.links])
        self.guesses.learn(page.url, [way.source for way in ways], wanted >= KNOWN)
        for way in ways:
            self.navigator.note_tried(way)
            self.navigator.learn(way, wanted, 1 / len(ways))
            self.navigator.follow(way, self.brought[page.url], 1 / len(ways))
        self._correct(page.url, wanted)
        return ways

    def _learn_from_known(self, page: Arrival) -> None:
        taught: Counter[tuple[str, bool]] = Counter()
        for _, link in page.links:
            wanted = self.kinds.get(link.url)
            if wanted is not None and taught[link.place, wanted >= KNOWN] < PER_KIND:
                taught[link.place, wanted >= KNOWN] += 1
                self.navigator.learn(link, wanted, KNOWN)
                if link.url in self.unled:  # a page that leads to a sample may lead to its like
                    self.unled.remove(link.url)
                    self.brought[page.url] += 1

    def _note_new(self, page: Arrival) -> None:
        """Remember the ways to URLs that wait, and what they promise."""
        shown: Counter[str] = Counter()
        self.navigator.note_shown(
            [link for target, link in page.links if target not in self.ways and link.url not in self.kinds]
        )
        for target, link in page.links:
            if link.url in self.kinds:
                continue
            ways = self.ways.get(target)
            if ways is None:
                self._guess(page, link)
                if shown[link.place] < PER_KIND:
                    shown[link.place] += 1
                    self.navigator.learn(link, 0.0, UNTRIED)
                if len(self.ways) < REMEMBERED:
                    self.ways[target] = [link]
            elif len(ways) < WAYS and all(way.place != link.place or not link.place for way in ways):
                ways.append(link)

    def _note_pointed(self, page: Arrival, wanted: bool) -> None:
        self.seen[wanted] += 1
        for target, _ in page.links:
            if target in self.ways:
                self.pointed.setdefault(target, [0, 0])[wanted] += 1

    def listed(self, target: int) -> float:
        """What a URL promises because wanted pages link to it and others do not: it may be the list they are on."""
        others, wanted = self.pointed.get(target, (0, 0))
        if wanted < POINTERS:
            return 0.0
        by_others = (others + 1) / (self.seen[False] + 1)
        by_wanted = wanted / self.seen[True]
        tried, good = self.lists
        return LISTED * (good + 1) / (tried + 1) * wanted / (wanted + POINTERS) * max(0.0, 1 - by_others / by_wanted)

    def _guess(self, page: Arrival, link: LinkSeen) -> None:
        chance = self.navigator.chance(link)
        worth = chance if chance >= COUNTS else 0.0
        self.brought[page.url] += worth
        if len(self.shown) < REMEMBERED:
            self.shown[link.url] = page.url, worth

    def _correct(self, url: str, wanted: float) -> None:
        """Give the page that showed a URL first what that is really worth."""
        source, guess = self.shown.pop(url, ("", 0.0))
        if source and abs(wanted - guess) > CORRECTS:
            self.brought[source] = max(0.0, self.brought[source] + wanted - guess)
            ways = self.came.get(source, [])
            for way in ways:
                self.navigator.follow(way, self.brought[source], CORRECTION / len(ways))
