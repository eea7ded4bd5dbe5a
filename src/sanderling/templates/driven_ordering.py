"""A crawl that looks for pages of one kind: an ordering that follows promising links first.

Every page that comes home is recognised or not (`structure_recognise`); the links that led to it, and its links to
pages we know already, teach the navigator (`organise.navigation`); what waits is moved by what was learned.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from sanderling.fingerprint.structure import decode_features
from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, Ordering
from sanderling.models import TemplateFilter, Url
from sanderling.templates.classifier import EARLY, Recogniser
from sanderling.templates.link_model import CALLED, LinkSeen, Navigator
from sanderling.templates.link_outcomes import REMEMBERED, Arrival, LinkOutcomes
from sanderling.templates.template_views import PageView
from sanderling.templates.url_guess import guess_list_url

RANKS = 10.0  # between a sure match and a link without hope
LEVEL, LEVELS = 0.2, 5  # ranks that a link loses for each step from the start, and steps that count
NOTICED = 0.01  # a change of rank that is told
IN_FRONT, SOME = 1_000, 500  # waiting URLs that are scored again each time
HUB = 2  # wanted pages that a page led to before it is called home
FEATURES = 2_000  # that a brief speaks of
LISTS = 3  # that are asked for by what they may be called
NONE = -1  # no feature of any page
AGAIN = 1.2  # growth until the brief is written again


def _heaviest(weights: Mapping[int, float]) -> Sequence[tuple[int, float]]:
    """Of too many features those that say most, and those that say least: the rest are as good as unknown."""
    ordered = sorted(weights.items(), key=lambda item: item[1])
    return ordered if len(ordered) <= FEATURES else [*ordered[: FEATURES // 2], *ordered[-FEATURES // 2 :]]


Waiting = Callable[[Sequence[str]], Mapping[Url, int]]


class Driven(Ordering):
    """Ranks URLs by what following them promises; keeps the pages it recognised."""

    is_eager = True

    def __init__(self, recogniser: Recogniser, navigator: Navigator) -> None:
        self.recogniser = recogniser
        self.navigator = navigator
        self.matches: dict[str, float] = {}
        self.fresh: list[Arrival] = []
        self.urls: dict[int, str] = {}
        self.leads = LinkOutcomes(navigator, [look.url for look in recogniser.samples])
        self.ranks: dict[str, float] = {}
        self.lists: dict[str, None] = {}  # that were asked for because they may be called like the kind of the samples
        self.turn = 0
        self.kept: set[int] = set()  # pages that migrants keep
        self.led: Counter[str] = Counter()  # wanted pages that each page led to
        self.called: set[int] = set()  # of them, those that are on their way home
        self.judged = self.recogniser.lesson
        self.written: tuple[int, TemplateFilter] | None = None  # the brief, and how many pages were known
        self.let_wait: Waiting = lambda _urls: {}  # how URLs that no page has shown get an id and wait, at rank RANKS

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        """The places of new URLs; smaller is sooner."""
        return [self._rank(finding) for finding in found_urls]

    def _rank(self, finding: FoundUrl) -> float:
        link = LinkSeen(finding.url, source=self.urls.get(finding.source_id, ""))
        rank = RANKS * (1 - self.navigator.score(link))
        if len(self.ranks) < REMEMBERED:
            self.ranks[finding.url] = rank
        return rank + LEVEL * min(finding.depth, LEVELS)

    def place(self, url: str, id_: int) -> float:
        """The place of a URL that waits already."""
        link = LinkSeen(url)
        if len(self.leads.ways) < REMEMBERED:
            self.leads.ways.setdefault(id_, [link])
        rank = self.ranks[url] = RANKS * (1 - self.navigator.score(link))
        return rank

    def learn(self, crawled_page: CrawledPage) -> None:
        """Note a page; it is looked at when the gains are asked for."""
        links = [
            (id_, LinkSeen(link.url, link.anchor, crawled_page.url, link.tag_path)) for id_, link in crawled_page.links
        ]
        self.note(
            Arrival(crawled_page.id, crawled_page.url, crawled_page.title, crawled_page.structure_fingerprint, links)
        )
        self.called.discard(crawled_page.id)
        if crawled_page.is_parked:
            self.kept.add(crawled_page.id)

    def note(self, page: Arrival) -> None:
        """Put a page beside the others that came since the gains were asked for."""
        self.fresh.append(page)
        self.urls[page.id] = page.url

    def pop_rank_gains(self) -> Mapping[int, float]:
        """By how much waiting URLs moved forward since the last time this was asked."""
        fresh, self.fresh = self.fresh, []
        for page in fresh:
            self.take_in(page)
        return self._moved() | self._guessed() if fresh else {}

    def _guessed(self) -> dict[int, float]:
        """Let URLs wait that no page has shown and that probably are wanted."""
        new = self.let_wait([*self.leads.guesses.venture(), *self._lists()])
        return {id_: RANKS - self.place(url, id_) for url, id_ in new.items()}

    def _lists(self) -> list[str]:
        """Where lists may be that are called like the kind of the samples; they are worth a visit, linked to or not."""
        words = self.recogniser.called.words()
        places = [guess_list_url(look.url, word) for look in self.recogniser.samples for word in words]
        new = [url for url in dict.fromkeys(places) if url not in self.lists][: LISTS - len(self.lists)]
        self.lists |= dict.fromkeys(new)
        self.navigator.hoped |= dict.fromkeys(new, CALLED)
        return new

    def _moved(self) -> dict[int, float]:
        """Score again what stands in front, and in turn some of the rest."""
        every = self.leads.ways
        waiting = sorted(every, key=lambda target: self.ranks.get(every[target][0].url, RANKS))
        turn = self.turn % max(1, len(waiting))
        self.turn = turn + SOME
        moved = {}
        for target in dict.fromkeys([*waiting[:IN_FRONT], *waiting[turn : turn + SOME]]):
            ways = every[target]
            rank = RANKS * (1 - max(self.leads.listed(target), *map(self.navigator.score, ways)))
            before = self.ranks.get(ways[0].url, RANKS)
            if abs(before - rank) > NOTICED:
                moved[target] = before - rank
                self.ranks[ways[0].url] = rank
        return moved

    def take_in(self, page: Arrival) -> None:
        """Recognise a page and learn from the links that led to it and from its own."""
        ways = self.leads.take_in(page, self._recognise(page))
        if page.url in self.matches:
            self.led.update(way.source for way in ways)

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

    def build_template_filter(self) -> TemplateFilter:
        """What specialised migrants are to look for, as far as it is known now."""
        known = self.recogniser
        if self.written is None or len(known.looks) >= AGAIN * self.written[0]:
            structures = tuple(look.features for look in known.samples)
            weights = {feature: known.weight(feature) for feature in known.liked.keys() | known.common.keys()}
            self.written = (
                len(known.looks),
                TemplateFilter(structures, dict(_heaviest(weights)), known.weight(NONE), EARLY),
            )
        return self.written[1]

    def _recognise(self, page: Arrival) -> float:
        """How surely a page is wanted; one that is wanted is kept."""
        if not page.signature:
            return 0.0
        look = PageView(page.id, page.url, page.title, decode_features(page.signature))
        if self.recogniser.show(look):
            self.matches[page.url] = self.recogniser.likeness(look)
        self.navigator.heed(self.recogniser.called.words())
        return self.recogniser.belief(look)
