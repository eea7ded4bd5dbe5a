"""A crawl towards pages like samples: recognizes them, and learns online which links lead to them.

Each fetched page is compared with the samples against the pages seen so far (concept averaging). The result teaches two
logistic models: the probability that a link leads to such a page, and that it leads to a page with links to them (a
hub). A share of the fetches goes to the links that were found first, as in a breadth-first crawl. With a query, pages
must also be about it: workers report how relevant the text of a page is.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import log

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.fingerprint.structure import decode_features
from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, Ordering
from sanderling.frontier.ordering.topic import Topic, build_topic_from_query
from sanderling.models import TemplateFilter
from sanderling.templates.concept_averaging import THRESHOLD, Inference, PageSets, infer_concepts
from sanderling.templates.link_model import LinkEvidence, LinkModel, tokenize_link
from sanderling.templates.page_features import VIEW_BITS, PageView, extract_features

RELEARN_GROWTH, FILTER_GROWTH = 1.1, 1.2
MAX_FILTER_FEATURES = 2_000
MIN_FILTER_SIMILARITY = 0.4  # of parked pages; the coordinator looks at their URL and title too
RANKS = 10.0  # between a certain match and a link without promise
MIN_GAIN = 0.01  # smallest change of a rank that is reported
MAX_RESCORED, MAX_RESCORED_IN_TURN = 1_000, 500  # waiting URLs that are scored again each time
MAX_WAITING = 50_000  # waiting URLs whose links are remembered
KNOWN_WEIGHT, MAX_KNOWN_PER_PLACE = 0.5, 2  # of links to fetched pages
HUB_PROBABILITY = 0.3  # from which a link counts for the page it is on
MIN_EXPLORED_SHARE, MAX_EXPLORED_SHARE = 0.2, 0.8  # of the fetches that go to the links that were found first
MEMORY = 0.9  # weight of a fetch in the yields of both ways after each further one
START_MATCHES, START_FETCHES = 0.5, 2.0  # assumed of both ways at the start
MIN_PATIENCE, PATIENCE_SHARE = 40, 0.3  # fetches without a match after which the crawl ends, at least and as a share
MIN_LINKS_TO_HUB = 2  # matches that a page must link to before it is brought home
MIN_RELEVANCE = 0.45  # of a page about a query: all words in its title, or each about three times
QUERY_WEIGHT = 3.0  # log odds of a link with all words of the query


class Arrival(Struct, frozen=True):
    """A page that was fetched, with its links by target id, and its relevance to the query (None: unknown)."""

    view: PageView
    links: Sequence[tuple[int, LinkEvidence]] = ()
    relevance: float | None = None


class TypeRecognizer:
    """Probability that pages are like the samples, against the pages seen so far."""

    def __init__(self, samples: Sequence[PageView]) -> None:
        self.samples = list(samples)
        self.sample_features = [extract_features(view) for view in samples]
        self.seen = PageSets(self.sample_features)
        self.views: dict[int, PageView] = {}
        self.inference: Inference = infer_concepts(self.seen, self.sample_features)
        self.learned_pages = self.seen.page_count
        self._filter: tuple[int, TemplateFilter] | None = None

    def add(self, view: PageView) -> None:
        """Add a page; learn again after some growth."""
        if view.fingerprint and all(view.url != sample.url for sample in self.samples):
            self.seen.add(extract_features(view))
            self.views[view.id] = view
            if self.seen.page_count >= RELEARN_GROWTH * self.learned_pages:
                self.learn()

    def learn(self) -> None:
        self.inference = infer_concepts(self.seen, self.sample_features)
        self.learned_pages = self.seen.page_count

    def compute_probability(self, view: PageView) -> float:
        """Return the probability of a page, by what is known now."""
        if any(view.url == sample.url for sample in self.samples):
            return 1.0
        return self.inference.compute_probability(extract_features(view)) if view.fingerprint else 0.0

    def build_template_filter(self) -> TemplateFilter:
        """Return the structures and feature weights by which workers filter."""
        if self._filter is None or self.seen.page_count >= FILTER_GROWTH * self._filter[0]:
            structures = tuple(decode_features(view.fingerprint) for view in self.samples)
            features = frozenset[int]().union(*structures)
            found = self.seen.load_pages([feature << VIEW_BITS for feature in features])
            rarity = log(self.seen.page_count + 1)
            weights = {feature >> VIEW_BITS: rarity - log(pages.bit_count()) for feature, pages in found.items()}
            heaviest = dict(sorted(weights.items(), key=lambda item: -item[1])[:MAX_FILTER_FEATURES])
            found_filter = TemplateFilter(structures, heaviest, rarity, MIN_FILTER_SIMILARITY)
            self._filter = self.seen.page_count, found_filter
        return self._filter[1]


class DrivenOrdering(Ordering):
    """Ranks URLs by the matches that they promise."""

    is_eager = True

    def __init__(self, samples: Sequence[PageView], query: str = "") -> None:
        self.recognizer = TypeRecognizer(samples)
        self.topic = Topic()
        with suppress(UsageError):  # no usable word
            self.topic = build_topic_from_query(query)
        self.matches: dict[str, float] = {}
        self.match_model, self.hub_model = LinkModel(), LinkModel()
        self.parked: set[int] = set()  # pages that workers keep
        self.requested: set[int] = set()  # parked pages that were requested
        self.pages_since_match = self.page_count = 0
        self._fresh: list[Arrival] = []
        self._urls: dict[int, str] = {}
        self._links: dict[int, LinkEvidence] = {}  # to waiting URLs, the first found
        self._queue: deque[int] = deque()  # waiting URLs, as they were found
        self._ranks: dict[str, float] = {}  # of waiting URLs
        self._fetched: dict[str, float] = {}  # pages, with their relevance to the query
        self._outcomes: dict[str, float] = {}  # probability of fetched pages, when they were fetched
        self._match_links: Counter[str] = Counter()  # matches that each page links to
        self._explored = 0.0
        self._exploring: set[int] = set()  # waiting URLs that were moved to the front
        self._yields = {way: [START_MATCHES, START_FETCHES] for way in (True, False)}  # links found first, ranked ones
        self._earlier: set[str] = set()
        self._matched_pages = self._turn = 0
        for view in samples:
            self.match_model.learn(tokenize_link(LinkEvidence(view.url)), 1.0, 1 / len(samples))

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [self._rank(LinkEvidence(found.url, source=self._urls.get(found.source_id, ""))) for found in found_urls]

    def place(self, url: str, id_: int) -> float:
        """Return the rank of a URL that waits already."""
        link = LinkEvidence(url)
        self._remember_link(id_, link)
        return self._rank(link)

    def learn(self, crawled_page: CrawledPage) -> None:
        page, source = crawled_page, crawled_page.url
        links = [(id_, LinkEvidence(link.url, link.anchor, source, link.tag_path)) for id_, link in page.links]
        view = PageView(page.id, page.url, page.title, page.structure_fingerprint)
        self.note(Arrival(view, links, None if page.is_parked else page.relevance))
        self.requested.discard(page.id)
        if page.is_parked:
            self.parked.add(page.id)

    def note(self, page: Arrival) -> None:
        """Keep a page until ranks are asked for."""
        self._fresh.append(page)
        self._urls[page.view.id] = page.view.url

    def pop_rank_gains(self) -> Mapping[int, float]:
        fresh, self._fresh = self._fresh, []
        for page in fresh:
            self.take_in(page)
        return self._explore(len(fresh)) | self._rescore() if fresh else {}

    def take_in(self, page: Arrival) -> None:
        """Recognize a page; learn from the links that led to it and from its own."""
        view = page.view
        self._urls[view.id] = view.url
        self.recognizer.add(view)
        way = self._links.pop(view.id, None)
        about = self._fetched[view.url] = self._measure_relevance(page, way.anchor if way else "")
        probability = self._outcomes[view.url] = about * self.recognizer.compute_probability(view)
        self._ranks.pop(view.url, None)
        old = self._yields[is_explored := view.id in self._exploring]
        self._yields[is_explored] = [MEMORY * old[0] + probability, MEMORY * old[1] + 1]
        self.page_count += 1
        self.pages_since_match += 1
        if self.recognizer.learned_pages != self._matched_pages:
            self._match_again()
        if probability >= THRESHOLD:
            self.matches[view.url] = probability
            self.pages_since_match = 0
            self._match_links.update([way.source] if way else ())
        self._match_links[view.url] += sum(link.url in self.matches for _, link in page.links)
        self._learn_from_known_targets(page)
        value = self._note_new_targets(page)
        if way is not None:
            self.match_model.learn(tokenize_link(way), probability)
            self.hub_model.learn(tokenize_link(way), value / (value + 1))

    def _measure_relevance(self, page: Arrival, anchor: str) -> float:
        """Return 1 for a page about the query, less for others; of an unknown text, by title, URL, and anchor."""
        if not self.topic:
            return 1.0
        if page.relevance is None:
            return self.topic.compute_coverage(f"{page.view.title} {page.view.url} {anchor}")
        return 1.0 if page.relevance >= MIN_RELEVANCE else THRESHOLD / 2 * page.relevance / MIN_RELEVANCE

    def _match_again(self) -> None:
        """Replace the matches: pages seen early were compared with few others."""
        self._matched_pages = self.recognizer.learned_pages
        self.matches = {
            url: probability
            for view in [*self.recognizer.samples, *self.recognizer.views.values()]
            if (url := view.url) in self._fetched and url not in self._earlier
            if (probability := self._fetched[url] * self.recognizer.compute_probability(view)) >= THRESHOLD
        }

    def start_counting(self) -> None:
        """Count matches and fetches from here on; earlier pages only teach."""
        self._earlier = set(self._fetched)
        self.matches.clear()
        self.page_count = self.pages_since_match = 0

    def is_exhausted(self) -> bool:
        """Return whether so many fetches brought no match that nothing more is to be expected."""
        return self.pages_since_match > max(MIN_PATIENCE, PATIENCE_SHARE * self.page_count)

    def request_parked_pages(self) -> set[int]:
        """Return parked pages that match, or link to matches, and mark them as requested."""
        if self.parked:
            self.recognizer.learn()
            self._match_again()
        wanted = {
            id_
            for id_ in self.parked
            if self._urls[id_] in self.matches or self._match_links[self._urls[id_]] >= MIN_LINKS_TO_HUB
        }
        self.parked -= wanted
        self.requested |= wanted
        return wanted

    def find_promising(self, min_probability: float) -> set[int]:
        """Return waiting URLs that probably lead to matches."""
        return {id_ for id_ in self._links if self._get_rank(id_) <= RANKS * (1 - min_probability)}

    def _rank(self, link: LinkEvidence) -> float:
        rank = RANKS * (1 - self._score(link))
        if len(self._ranks) < MAX_WAITING:
            self._ranks[link.url] = rank
        return rank

    def _score(self, link: LinkEvidence) -> float:
        """Return the share of matches among the page behind a link and a page that it leads to."""
        tokens = tokenize_link(link)
        bonus = QUERY_WEIGHT * self.topic.compute_coverage(f"{link.anchor} {link.url}") if self.topic else 0.0
        return 1 - (1 - self.match_model.predict(tokens, bonus)) * (1 - self.hub_model.predict(tokens))

    def _remember_link(self, id_: int, link: LinkEvidence) -> None:
        known = self._links.get(id_)
        if known is None and len(self._links) < MAX_WAITING:
            self._queue.append(id_)
            self._links[id_] = link
        elif known is not None and not known.place:  # found in an earlier crawl
            self._links[id_] = link

    def _learn_from_known_targets(self, page: Arrival) -> None:
        """Learn from some links of each place of a page that lead to fetched pages."""
        taught: Counter[tuple[str, bool]] = Counter()
        for _, link in page.links:
            outcome = self._outcomes.get(link.url)
            if outcome is not None and taught[kind := (link.place, outcome >= THRESHOLD)] < MAX_KNOWN_PER_PLACE:
                taught[kind] += 1
                self.match_model.learn(tokenize_link(link), outcome, KNOWN_WEIGHT)

    def _note_new_targets(self, page: Arrival) -> float:
        """Remember the links of a page; return the number of matches to be expected behind the new ones."""
        value = 0.0
        for id_, link in page.links:
            if link.url not in self._fetched:
                if id_ not in self._links:
                    probability = self.match_model.predict(tokenize_link(link))
                    value += probability if probability >= HUB_PROBABILITY else 0.0
                self._remember_link(id_, link)
        return value

    def _rescore(self) -> dict[int, float]:
        """Score the first waiting URLs again, and in turn some of the rest."""
        waiting = sorted(self._links, key=lambda id_: (self._get_rank(id_), id_))
        turn = self._turn % max(1, len(waiting))
        self._turn = turn + MAX_RESCORED_IN_TURN
        gains = {}
        for id_ in dict.fromkeys([*waiting[:MAX_RESCORED], *waiting[turn : turn + MAX_RESCORED_IN_TURN]]):
            before = self._get_rank(id_)
            if before >= 0 and abs(gain := before - self._rank(self._links[id_])) > MIN_GAIN:
                gains[id_] = gain
        return gains

    def _get_rank(self, id_: int) -> float:
        return self._ranks.get(self._links[id_].url, RANKS)

    def _compute_explored_share(self) -> float:
        """Return the share of the fetches for the links found first: their part of the recent yields."""
        explored, ranked = (matches / fetches for matches, fetches in (self._yields[True], self._yields[False]))
        return max(MIN_EXPLORED_SHARE, min(MAX_EXPLORED_SHARE, explored / (explored + ranked)))

    def _explore(self, fetched: int) -> dict[int, float]:
        """Move the URLs that wait longest to the front, for a share of the fetches."""
        self._explored += self._compute_explored_share() * fetched
        gains = {}
        while self._explored >= 1 and self._queue:
            id_ = self._queue.popleft()
            if id_ in self._links and (before := self._get_rank(id_)) >= 0:
                gains[id_] = before + RANKS
                self._ranks[self._links[id_].url] = -RANKS
                self._exploring.add(id_)
                self._explored -= 1
        return gains
