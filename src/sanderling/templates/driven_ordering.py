"""A crawl towards pages like samples: learns online which links lead to them.

Each fetched page is compared with the samples against the pages seen so far (concept averaging). The result teaches two
logistic models: the probability that a link leads to such a page, and that it leads to a page with links to them (a
hub). A share of the fetches goes to the links that were found first, as in a breadth-first crawl.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, Ordering
from sanderling.models import TemplateFilter
from sanderling.templates.concept_averaging import THRESHOLD
from sanderling.templates.link_model import (
    LinkEvidence,
    LinkModel,
    compute_word_share,
    list_kinds,
    stem_words,
    tokenize_link,
)
from sanderling.templates.page_features import PageView
from sanderling.templates.type_recognizer import TypeRecognizer

RANKS = 10.0  # between a certain match and a link without promise
MIN_GAIN = 0.01  # smallest change of a rank that is reported
MAX_RESCORED, MAX_RESCORED_IN_TURN = 1_000, 500  # waiting URLs that are scored again each time
MAX_WAITING = 50_000  # waiting URLs whose links are remembered
MAX_SOURCES = 4  # links to one URL that are remembered
KNOWN_WEIGHT = 0.5  # of a link to a page that is known already
MAX_KNOWN_PER_LIST = 2  # links of one place of a page to known pages that teach
HUB_PROBABILITY = 0.3  # from which a link counts for the page it is on
CORRECTION_WEIGHT = 0.3
NOVELTY = 0.1  # value of a link of a kind that was never followed
EXPLORED_SHARE = 0.25  # of the fetches
MIN_PATIENCE, PATIENCE_SHARE = 40, 0.3  # fetches without a match after which the crawl ends, at least and as a share
MIN_LINKS_TO_HUB = 2  # matches that a page must link to before it is brought home
FILTER_GROWTH = 1.2
QUERY_TOKEN, QUERY_WEIGHT = "query words", 3.0  # log odds of a link that has the words of the query
MIN_WORD_SHARE = 0.5


class Arrival(Struct, frozen=True):
    """A page that was fetched, with its links by target id."""

    view: PageView
    links: Sequence[tuple[int, LinkEvidence]] = ()


class DrivenOrdering(Ordering):
    """Ranks URLs by the matches that they promise."""

    is_eager = True

    def __init__(self, samples: Sequence[PageView], query: str = "") -> None:
        self.recognizer = TypeRecognizer(samples)
        self.words = frozenset(stem_words(query))
        self.matches: dict[str, float] = {}
        self.match_model, self.hub_model = LinkModel(), LinkModel()
        self.match_model.weights[QUERY_TOKEN] = QUERY_WEIGHT
        self.parked: set[int] = set()  # pages that workers keep
        self.requested: set[int] = set()  # parked pages that were requested
        self.pages_since_match = 0
        self.page_count = 0
        self._fresh: list[Arrival] = []
        self._urls: dict[int, str] = {}
        self._links: dict[int, list[LinkEvidence]] = {}  # to waiting URLs
        self._first_links: dict[str, tuple[str, float]] = {}  # waiting URL: the page that showed it, its probability
        self._queue: deque[int] = deque()  # waiting URLs, as they were found
        self._ranks: dict[str, float] = {}  # of waiting URLs
        self._outcomes: dict[str, float] = {}  # probability by URL of fetched pages
        self._ways: dict[str, list[LinkEvidence]] = {}  # links that led to fetched pages
        self._hub_values: dict[str, float] = {}
        self._match_links: Counter[str] = Counter()  # matches that each page links to
        self._tried: Counter[str] = Counter()
        self._explored = 0.0
        self._earlier: set[str] = set()
        self._matched_pages = 0
        self._turn = 0
        self._filter: tuple[int, TemplateFilter] | None = None
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
        self.note(Arrival(PageView(page.id, page.url, page.title, page.structure_fingerprint), links))
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
        if not fresh:
            return {}
        gains = self._rescore()
        for id_, gain in self._explore(len(fresh)).items():
            gains[id_] = gains.get(id_, 0.0) + gain
        return gains

    def take_in(self, page: Arrival) -> None:
        """Recognize a page; learn from the links that led to it and from its own."""
        view = page.view
        self._urls[view.id] = view.url
        probability = self.recognizer.add(view) if view.fingerprint else 0.0
        ways = self._ways[view.url] = self._links.pop(view.id, [])
        if self.words:
            text = " ".join([view.title, view.url, *(way.anchor for way in ways)])
            probability *= compute_word_share(self.words, text)
        self._outcomes[view.url] = probability
        self._ranks.pop(view.url, None)
        self.page_count += 1
        self.pages_since_match += 1
        if not self.words and self.recognizer.learned_pages != self._matched_pages:
            self._matched_pages = self.recognizer.learned_pages
            self._match_again()
        if probability >= THRESHOLD:
            self.matches[view.url] = probability
            self.pages_since_match = 0
            self._match_links.update(way.source for way in ways)
        self._learn_from_known_targets(page)
        self._note_new_targets(page)
        for way in ways:
            self._tried.update(list_kinds(way))
            self.match_model.learn(self._tokenize(way), probability, 1 / len(ways))
        self._learn_hub(view.url, 1.0)
        self._correct_source(view.url, probability)

    def _match_again(self) -> None:
        """Replace the matches: pages seen early were compared with few others."""
        samples = {sample.url for sample in self.recognizer.samples} & self._outcomes.keys()
        found = {self._urls[id_]: probability for id_, probability in self.recognizer.list_matches().items()}
        self.matches = {url: p for url, p in (dict.fromkeys(samples, 1.0) | found).items() if url not in self._earlier}

    def start_counting(self) -> None:
        """Count matches and fetches from here on; earlier pages only teach."""
        self._earlier = set(self._outcomes)
        self.matches.clear()
        self.page_count = self.pages_since_match = 0

    def is_exhausted(self) -> bool:
        """Return whether so many fetches brought no match that nothing more is to be expected."""
        return self.pages_since_match > max(MIN_PATIENCE, PATIENCE_SHARE * self.page_count)

    def request_parked_pages(self) -> set[int]:
        """Return parked pages that match, or link to matches, and mark them as requested."""
        matching = self.recognizer.list_matches().keys() & self.parked if self.parked else set()
        self.matches |= {self._urls[id_]: THRESHOLD for id_ in matching if self._urls[id_] not in self.matches}
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

    def build_template_filter(self) -> TemplateFilter:
        pages = self.recognizer.seen.page_count
        if self._filter is None or pages >= FILTER_GROWTH * self._filter[0]:
            self._filter = pages, self.recognizer.build_template_filter()
        return self._filter[1]

    def _rank(self, *links: LinkEvidence) -> float:
        rank = RANKS * (1 - max(map(self._score, links)))
        if len(self._ranks) < MAX_WAITING:
            self._ranks[links[0].url] = rank
        return rank

    def _score(self, link: LinkEvidence) -> float:
        """Return the share of matches among the page behind a link and a page that it leads to."""
        tokens = self._tokenize(link)
        promise = 1 - (1 - self.match_model.predict(tokens)) * (1 - self.hub_model.predict(tokens))
        kinds = list_kinds(link)
        return max(promise, NOVELTY * sum(1 / (1 + self._tried[kind]) for kind in kinds) / max(1, len(kinds)))

    def _tokenize(self, link: LinkEvidence) -> tuple[str, ...]:
        tokens = tokenize_link(link)
        if self.words and compute_word_share(self.words, f"{link.anchor} {link.url}") >= MIN_WORD_SHARE:
            return (*tokens, QUERY_TOKEN)
        return tokens

    def _remember_link(self, id_: int, link: LinkEvidence) -> None:
        links = self._links.get(id_)
        if links is None:
            if len(self._links) < MAX_WAITING:
                self._links[id_] = [link]
                self._queue.append(id_)
        elif len(links) < MAX_SOURCES and all(known.place != link.place or not link.place for known in links):
            links.append(link)

    def _learn_from_known_targets(self, page: Arrival) -> None:
        taught: Counter[tuple[str, bool]] = Counter()
        for _, link in page.links:
            outcome = self._outcomes.get(link.url)
            if outcome is None:
                continue
            self._match_links[page.view.url] += outcome >= THRESHOLD
            kind = link.place, outcome >= THRESHOLD
            if taught[kind] < MAX_KNOWN_PER_LIST:
                taught[kind] += 1
                self.match_model.learn(self._tokenize(link), outcome, KNOWN_WEIGHT)

    def _note_new_targets(self, page: Arrival) -> None:
        for id_, link in page.links:
            if link.url in self._outcomes:
                continue
            if id_ not in self._links and len(self._first_links) < MAX_WAITING:
                probability = self.match_model.predict(self._tokenize(link))
                value = probability if probability >= HUB_PROBABILITY else 0.0
                self._hub_values[page.view.url] = self._hub_values.get(page.view.url, 0.0) + value
                self._first_links[link.url] = page.view.url, value
            self._remember_link(id_, link)

    def _learn_hub(self, url: str, weight: float) -> None:
        value, ways = max(0.0, self._hub_values.get(url, 0.0)), self._ways.get(url, ())
        for way in ways:
            self.hub_model.learn(tokenize_link(way), value / (value + 1), weight / len(ways))

    def _correct_source(self, url: str, outcome: float) -> None:
        """Give the page that showed a URL first the value that the URL turned out to have."""
        source, value = self._first_links.pop(url, ("", 0.0))
        if source and abs(outcome - value) > MIN_GAIN:
            self._hub_values[source] = self._hub_values.get(source, 0.0) + outcome - value
            self._learn_hub(source, CORRECTION_WEIGHT)

    def _rescore(self) -> dict[int, float]:
        """Score the first waiting URLs again, and in turn some of the rest."""
        waiting = sorted(self._links, key=lambda id_: (self._get_rank(id_), id_))
        turn = self._turn % max(1, len(waiting))
        self._turn = turn + MAX_RESCORED_IN_TURN
        gains = {}
        for id_ in dict.fromkeys([*waiting[:MAX_RESCORED], *waiting[turn : turn + MAX_RESCORED_IN_TURN]]):
            before = self._get_rank(id_)
            if before >= 0 and abs(gain := before - self._rank(*self._links[id_])) > MIN_GAIN:
                gains[id_] = gain
        return gains

    def _get_rank(self, id_: int) -> float:
        return self._ranks.get(self._links[id_][0].url, RANKS)

    def _explore(self, fetched: int) -> dict[int, float]:
        """Move the URLs that wait longest to the front, for a share of the fetches."""
        self._explored += EXPLORED_SHARE * fetched
        gains = {}
        while self._explored >= 1 and self._queue:
            id_ = self._queue.popleft()
            if id_ in self._links and (before := self._get_rank(id_)) >= 0:
                gains[id_] = before + RANKS
                self._ranks[self._links[id_][0].url] = -RANKS
                self._explored -= 1
        return gains
