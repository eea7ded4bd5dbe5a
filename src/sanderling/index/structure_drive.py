"""A crawl that looks for pages of one kind: an ordering that follows promising links first.

Every page that comes home is recognised or not (`structure_recognise`); the links that led to it, and its links to
pages we know already, teach the navigator (`organise.navigation`); what waits is moved by what was learned.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt

from msgspec import Struct

from sanderling.frontier.order import Finding, Lesson, Ordering
from sanderling.index.structure_recognise import EARLY, Recogniser
from sanderling.index.structure_views import Look
from sanderling.organise.navigation import LinkSeen, Navigator
from sanderling.pages.structure import features
from sanderling.records import Brief

RANKS = 10.0  # between a sure match and a link without hope
LEVEL = 0.001  # of two equal links the one nearer to the start
REMEMBERED = 50_000  # waiting URLs that are scored again
IN_FRONT, SOME = 1_000, 500  # of them, each time
SCOUTS = 0.6  # times the root of the pages fetched: how many go to what promises little
WAYS = 4  # links to one URL that are remembered
HUB = 2  # wanted pages that a page led to before it is called home
FEATURES = 2_000  # that a brief speaks of
NONE = -1  # no feature of any page
AGAIN = 1.2  # growth until the brief is written again
PER_KIND = 2  # links of one page to known pages that teach


def _heaviest(weights: Mapping[int, float]) -> Sequence[tuple[int, float]]:
    """Of too many features those that say most, and those that say least: the rest are as good as unknown."""
    ordered = sorted(weights.items(), key=lambda item: item[1])
    return ordered if len(ordered) <= FEATURES else [*ordered[: FEATURES // 2], *ordered[-FEATURES // 2 :]]


class Arrival(Struct, frozen=True):
    """A page that was just stored, with its links: id, URL, anchor, and where each stands if that is known."""

    id: int
    url: str
    title: str
    signature: bytes
    links: Sequence[tuple[int, LinkSeen]] = ()


class Driven(Ordering):
    """Ranks URLs by what following them promises; keeps the pages it recognised."""

    is_eager = True

    def __init__(self, recogniser: Recogniser, navigator: Navigator) -> None:
        self.recogniser = recogniser
        self.navigator = navigator
        self.matches: dict[str, float] = {}
        self.fresh: list[Arrival] = []
        self.urls: dict[int, str] = {}
        self.kinds: dict[str, bool] = {look.url: True for look in recogniser.samples}
        self.ways: dict[int, list[LinkSeen]] = {}
        self.ranks: dict[str, float] = {}
        self.turn = 0
        self.scouts: set[int] = set()
        self.scouted = 0
        self.kept: set[int] = set()  # pages that migrants keep
        self.led: Counter[str] = Counter()  # wanted pages that each page led to
        self.called: set[int] = set()  # of them, those that are on their way home
        self.judged = self.recogniser.lesson
        self.written: tuple[int, Brief] | None = None  # the brief, and how many pages were known

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        """The places of new URLs; smaller is sooner."""
        return [self._rank(finding) for finding in findings]

    def _rank(self, finding: Finding) -> float:
        link = LinkSeen(finding.url, source=self.urls.get(finding.page, ""))
        rank = RANKS * (1 - self.navigator.score(link))
        if len(self.ranks) < REMEMBERED:
            self.ranks[finding.url] = rank
        return rank + LEVEL * finding.depth

    def place(self, url: str, id_: int) -> float:
        """The place of a URL that waits already."""
        link = LinkSeen(url)
        if len(self.ways) < REMEMBERED and id_ not in self.ways:
            self.ways[id_] = [link]
        rank = self.ranks[url] = RANKS * (1 - self.navigator.score(link))
        return rank

    def learn(self, lesson: Lesson) -> None:
        """Note a page; it is looked at when the gains are asked for."""
        links = [(id_, LinkSeen(link.url, link.anchor, lesson.url, link.place)) for id_, link in lesson.links]
        self.note(Arrival(lesson.page, lesson.url, lesson.title, lesson.structure, links))
        self.called.discard(lesson.page)
        if lesson.kept:
            self.kept.add(lesson.page)

    def note(self, page: Arrival) -> None:
        """Put a page beside the others that came since the gains were asked for."""
        self.fresh.append(page)
        self.urls[page.id] = page.url

    def gains(self) -> Mapping[int, float]:
        """By how much waiting URLs moved forward since the last time this was asked."""
        fresh, self.fresh = self.fresh, []
        for page in fresh:
            self.take_in(page)
        return self._moved() if fresh else {}

    def _moved(self) -> dict[int, float]:
        """Score again what stands in front, and in turn some of the rest."""
        self._send_scouts()
        waiting = sorted(self.ways, key=lambda target: self.ranks.get(self.ways[target][0].url, RANKS))
        turn = self.turn % max(1, len(waiting))
        self.turn = turn + SOME
        moved = {}
        for target in dict.fromkeys(
            [*(self.scouts & self.ways.keys()), *waiting[:IN_FRONT], *waiting[turn : turn + SOME]]
        ):
            ways = self.ways[target]
            rank = RANKS * (1 - max(map(self.navigator.score, ways))) if target not in self.scouts else 0.0
            before = self.ranks.get(ways[0].url, RANKS)
            if abs(before - rank) > LEVEL * 10:
                moved[target] = before - rank
                self.ranks[ways[0].url] = rank
        return moved

    def _send_scouts(self) -> None:
        """Now and then follow the link found longest ago, however little it promises: it may be a new kind of hub."""
        due = int(SCOUTS * sqrt(len(self.kinds))) - self.scouted
        for target in list(self.ways)[: max(0, due)]:
            if target not in self.scouts:
                self.scouts.add(target)
                self.scouted += 1

    def take_in(self, page: Arrival) -> None:
        """Recognise a page and learn from the links that led to it and from its own."""
        wanted = self.kinds[page.url] = self._recognise(page)
        ways = self.ways.pop(page.id, [])
        self._learn_from_known(page)
        brought = self._note_new(page)
        self.led.update(way.source for way in ways if wanted)
        for way in ways:
            self.navigator.learn(way, wanted, 1 / len(ways))
            self.navigator.follow(way, brought)

    def calls(self) -> set[int]:
        """Pages that migrants keep and that we want after all: those we recognise, and hubs, to be looked at again."""
        self._judge_again()
        urls = self.urls
        wanted = {page for page in self.kept if urls[page] in self.matches or self.led[urls[page]] >= HUB}
        self.kept -= wanted
        self.called |= wanted
        return wanted

    def _judge_again(self) -> None:
        """What was kept when little was known of the site may be wanted by what was learned since."""
        if self.judged != self.recogniser.lesson:
            self.judged = self.recogniser.lesson
            for look in self.recogniser.looks:
                if look.id in self.kept and self.recogniser.wants(look):
                    self.matches[look.url] = self.recogniser.likeness(look)

    def brief(self) -> Brief:
        """What specialised migrants are to look for, as far as it is known now."""
        known = self.recogniser
        if self.written is None or len(known.looks) >= AGAIN * self.written[0]:
            structures = tuple(look.features for look in known.samples)
            weights = {feature: known.weight(feature) for feature in known.liked.keys() | known.common.keys()}
            self.written = len(known.looks), Brief(structures, dict(_heaviest(weights)), known.weight(NONE), EARLY)
        return self.written[1]

    def _recognise(self, page: Arrival) -> bool:
        if not page.signature:
            return False
        look = Look(page.id, page.url, page.title, features(page.signature))
        wanted = self.recogniser.show(look)
        if wanted:
            self.matches[page.url] = self.recogniser.likeness(look)
        return wanted

    def _learn_from_known(self, page: Arrival) -> None:
        taught: Counter[tuple[str, bool]] = Counter()
        for _, link in page.links:
            kind = self.kinds.get(link.url)
            if kind is not None and taught[link.place, kind] < PER_KIND:
                taught[link.place, kind] += 1
                self.navigator.learn(link, kind, 0.5)

    def _note_new(self, page: Arrival) -> int:
        """Remember the ways to URLs that wait, and count the promising ones that came with this page."""
        brought = 0
        for target, link in page.links:
            if link.url in self.kinds:
                continue
            ways = self.ways.get(target)
            if ways is None:
                brought += self.navigator.is_promising(link)
                if len(self.ways) < REMEMBERED:
                    self.ways[target] = [link]
            elif len(ways) < WAYS and all(way.place != link.place or not link.place for way in ways):
                ways.append(link)
        return brought
