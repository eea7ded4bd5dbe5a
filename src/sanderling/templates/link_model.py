"""Which links lead to the pages we want: navigation patterns, learned while crawling (LIT-NAV, GoGetIt).

A link is known by what its URL says, by its anchor's words, by where it stands and by what kind of page it stands on.
Every page fetched tells whether the link that led to it was wanted, and how good a *hub* it was: how many wanted pages
it leads to. A link's score is the harvest it promises, the share of wanted pages among the one behind it and those that
one leads to; or, while we know little, the worth of trying something new.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log
from urllib.parse import urlsplit

from msgspec import Struct

from sanderling.templates.logistic import NOTHING, Belief
from sanderling.urls.tokens import WORD, split_path, tokenize_url

MAX_WORDS = 6  # of an anchor
SAMPLE_WEIGHT = 3.0  # pages that one sample counts for
START = 0.02  # chance of a link we know nothing about
PROMISING = 0.5
REMEMBERED = 65_536  # links whose words are kept
EXPLORE = 0.1  # worth of a kind of link that was never tried
NAMED = 3.0  # times as much if it is called as the wanted pages are
ABOVE = 0.5  # worth of the directory that a sample is in
CALLED = 0.9  # worth of a list that is called like the kind of the samples
PARENTS = 4  # directories above a sample that are looked at
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
INFLECTION = re.compile(r"(?:ie|y|e)?(?:(?<!s)s)?$")  # what one and many differ in: `-y` and `-ies`, `-e` and `-es`
MARK = re.compile(r"\b(?=(?:[a-z]*[0-9]){3})[a-z0-9]+\b", re.IGNORECASE)  # made for one element: `ga32db3d98`
STRIPE = re.compile(r"\.(?:[\w-]*-)?(?:even|odd)(?:-[\w-]*)?(?=[.>]|$)")  # every other row of a table: `tr.even`
NUMBERED = re.compile(r"^(.*?)([0-9]{3,})[^0-9]*$")


class LinkSeen(Struct, frozen=True):
    """A link as a page shows it; `place` is its path of tags, where known."""

    url: str
    anchor: str = ""
    source: str = ""
    place: str = ""


class LinkTokens(Struct, frozen=True):
    """What a link says before it is followed: everything, what its URL says, and the kinds it is of."""

    tokens: tuple[str, ...]
    url: tuple[str, ...]
    kinds: tuple[str, ...]


@lru_cache(maxsize=REMEMBERED)
def tokenize_link(link: LinkSeen, skip: int = 0) -> LinkTokens:
    """Read a link; `skip` directories are common to the whole site and say nothing."""
    url = [*tokenize_url(link.url, skip), *name_words(split_path(link.url)[1])]
    kinds = kinds_of(link, skip)
    said = [token for token in url if not token.startswith("within:")]  # they repeat themselves
    said += [*nearby(split_path(link.url)[1]), *kinds]
    words = dict.fromkeys(word.lower() for word in WORD.findall(link.anchor[:200]))
    said += [f"anchor:{word}" for word in list(words)[:MAX_WORDS]]
    if link.source:
        source = tokenize_url(link.source, skip)
        said += [f"from-{token}" for token in source if token.startswith(("name", "ends", "depth"))]
    url += stem_link_words([*words, *WORDS.findall(split_path(link.url)[1].rpartition(".")[0])])
    return LinkTokens(tuple(dict.fromkeys(said)), tuple(dict.fromkeys(url)), tuple(kinds))


def stem_link_words(words: Iterable[str]) -> list[str]:
    """What words have in common as a list and as its entries write them: `Classes` and `Class`, `Types` and `Type`."""
    return [f"says:{INFLECTION.sub('', word.lower())}" for word in words if len(word) > 2]


def nearby(name: str) -> list[str]:
    """Numbers near each other were often given out together: `a1381`, `a138` and `a13` of `a13819`."""
    found = NUMBERED.match(name)
    return [f"near:{found[1]}{found[2][:-cut]}" for cut in (1, 2, 3)] if found else []


def name_words(name: str) -> list[str]:
    """The words a name begins and ends with, those too that are written together: `class` of `classFooBar`."""
    words = ["#" if word.isdigit() else word for word in WORDS.findall(name.rpartition(".")[0] or name)]
    return [f"head:{words[0]}", f"tail:{words[-1]}"] if len(words) > 1 else []


def kinds_of(link: LinkSeen, skip: int = 0) -> list[str]:
    """Name the kinds a link is of: the form of its URL, its place, its list; links of one kind lead to one kind."""
    folders, name, _ = split_path(link.url)
    form = re.sub(r"[0-9]+", "#", re.sub(r"[A-Za-z]{2,}", "w", name))
    found = [f"form:{len(folders[skip:])}/{form}"]
    if link.place:
        place = MARK.sub(lambda mark: f"#{len(mark[0])}", STRIPE.sub("", link.place))
        found.append(f"place:{place}")
        if link.source:
            found.append(f"list:{link.source}>{place}")
    return found


def parents_of(url: str) -> list[str]:
    """The directories above a page, the nearest first; the last is the home page of the site."""
    parts = urlsplit(url)
    folders = split_path(url)[0]
    above = ["/".join(["", *folders[:depth], ""]) for depth in range(len(folders), -1, -1)]
    above = [*above[: PARENTS - 1], above[-1]] if len(above) > PARENTS else above
    return [found for path in above if (found := f"{parts.scheme}://{parts.netloc}{path}") != url]


class Navigator:
    """Learns from followed links and scores others."""

    def __init__(self, samples: Sequence[str], skip: int = 0) -> None:
        self.skip = skip
        self.wanted, self.leads = Belief(START), Belief(START)
        self.tried: Counter[str] = Counter()  # links followed of each kind
        self.near = dict.fromkeys((token for url in samples for token in tokenize_link(LinkSeen(url), skip).url), 1.0)
        self.shown = dict.fromkeys(self.near, 0)  # links whose URLs say the same
        self.links = 0
        self.heeded: set[str] = set()  # what links say that may lead to a list of wanted pages
        self.hoped = {above[0]: ABOVE for url in samples if (above := parents_of(url))}  # URLs worth a visit anyway
        for url in samples:
            self.learn(LinkSeen(url), 1.0, SAMPLE_WEIGHT / len(samples))

    def learn(self, link: LinkSeen, wanted: float, weight: float = 1.0) -> None:
        """Take in how surely a link leads to a wanted page."""
        self.wanted.learn(tokenize_link(link, self.skip).tokens, wanted, weight)

    def follow(self, link: LinkSeen, brought: float, weight: float = 1.0) -> None:
        """Take in how many wanted pages the page behind a link leads to: one makes half of the two fetches good."""
        self.leads.learn(tokenize_link(link, self.skip).tokens, brought / (brought + 1), weight)

    def heed(self, words: Iterable[str]) -> None:
        """Links that say one of these words are near to the samples: a list is often called like what is on it."""
        for token in stem_link_words(words):
            if token not in self.shown:
                self.shown[token] = 0
                self.heeded.add(token)
                self.near[token] = log(self.links + 2)

    def note_tried(self, link: LinkSeen) -> None:
        """A link was followed."""
        self.tried.update(tokenize_link(link, self.skip).kinds)

    def note_shown(self, links: Sequence[LinkSeen]) -> None:
        """Take in new links: what few of them say, and a sample too, tells more of how near they are."""
        self.links += len(links)
        for link in links:
            for token in self.near.keys() & tokenize_link(link, self.skip).url:
                self.shown[token] += 1
        self.near = {token: log((self.links + 2) / (count + 1)) for token, count in self.shown.items()}

    def chance(self, link: LinkSeen) -> float:
        """How likely a link leads to a wanted page."""
        return self.wanted.chance(tokenize_link(link, self.skip).tokens)

    def novelty(self, link: LinkSeen) -> float:
        """What a link is worth because few of its kinds were tried; links near the samples more."""
        said = tokenize_link(link, self.skip)
        new = sum(1 / (1 + self.tried[kind]) for kind in said.kinds) / len(said.kinds)
        near = sum(map(self.near.get, said.url, NOTHING)) / sum(self.near.values())
        worth = EXPLORE * new * (0.5 + near)
        if not self.heeded.isdisjoint(said.url):
            worth *= NAMED
        return max(worth, self.hoped.get(link.url.removesuffix("index.html"), 0.0))

    def score(self, link: LinkSeen) -> float:
        """What following a link promises, in [0, 1]."""
        tokens = tokenize_link(link, self.skip).tokens
        harvest = 1 - (1 - self.wanted.chance(tokens)) * (1 - self.leads.chance(tokens))
        return max(harvest, self.novelty(link))
