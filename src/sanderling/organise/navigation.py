"""Which links lead to the pages we want: navigation patterns, learned while crawling (LIT-NAV, GoGetIt).

A link is known by what its URL says, by its anchor's words, by where it stands and by what kind of page it stands on.
Every page fetched tells whether the link that led to it was wanted, and how good a *hub* it was: how many promising
links it brought. A link's score is the best of three: its chance to be wanted, its worth as a hub, and, while we know
little, the worth of trying something new.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import exp, log

from msgspec import Struct

from sanderling.organise.tokens import WORD, path_of, url_tokens

MAX_WORDS = 6  # of an anchor
SMOOTH = 0.5
SAMPLE_WEIGHT = 3.0  # pages that one sample counts for
START = 0.02  # chance of a link we know nothing about
PROMISING = 0.5
TRUST = 0.5  # in one token's word on hubs; tokens repeat each other
USUAL = 0.8  # share of the links to wanted pages that carry a usual token
ENOUGH = 3.0  # wanted pages beside the samples before anything is called usual
REMEMBERED = 65_536  # links whose words are kept
EXPLORE = 0.1  # worth of a kind of link that was never tried


class LinkSeen(Struct, frozen=True):
    """A link as a page shows it; `place` is its path of tags, where known."""

    url: str
    anchor: str = ""
    source: str = ""
    place: str = ""


@lru_cache(maxsize=REMEMBERED)
def link_tokens(link: LinkSeen, skip: int = 0) -> tuple[str, ...]:
    """Say what a link says before it is followed."""
    said = [token for token in url_tokens(link.url, skip) if not token.startswith("within:")]  # they repeat themselves
    words = dict.fromkeys(word.lower() for word in WORD.findall(link.anchor[:200]))
    said += [f"anchor:{word}" for word in list(words)[:MAX_WORDS]]
    said.append(arm(link, skip))
    if link.source:
        said += [
            f"from-{token}" for token in url_tokens(link.source, skip) if token.startswith(("name", "ends", "depth"))
        ]
        if link.place:
            said.append(f"list:{link.source}>{link.place}")  # its neighbours in one list are mostly of its kind
    return tuple(dict.fromkeys(said))


def arm(link: LinkSeen, skip: int = 0) -> str:
    """Name what a link stands for when nothing else is known: its place, or else the form of its URL."""
    if link.place:
        return f"place:{link.place}"
    folders, name, _ = path_of(link.url)
    form = re.sub(r"[0-9]+", "#", re.sub(r"[A-Za-z]{2,}", "w", name))
    return f"form:{len(folders[skip:])}/{form}"


class _Worth:
    """What became of the links that carried a token."""

    __slots__ = ("brought", "followed", "seen", "wanted")

    def __init__(self) -> None:
        self.seen = self.wanted = self.followed = self.brought = 0.0


class Navigator:
    """Learns from followed links and scores others."""

    def __init__(self, samples: Sequence[str], skip: int = 0) -> None:
        self.skip = skip
        self.tokens: dict[str, _Worth] = {}
        self.wanted = self.unwanted = self.followed = self.brought = 0.0
        self.usual: dict[str, float] = {}
        self.votes: dict[str, float] = {}  # of tokens on wanted pages, and below on hubs, until something is learned
        self.hub_votes: dict[str, float] = {}
        self.stale = True
        for url in samples:
            self.learn(LinkSeen(url), wanted=True, weight=SAMPLE_WEIGHT / len(samples))

    def learn(self, link: LinkSeen, wanted: bool, weight: float = 1.0) -> None:
        """Take in what kind of page a link leads to."""
        self.stale = True
        self.votes.clear()
        self.wanted += weight * wanted
        self.unwanted += weight * (not wanted)
        for token in link_tokens(link, self.skip):
            worth = self.tokens.setdefault(token, _Worth())
            worth.seen += weight
            worth.wanted += weight * wanted

    def follow(self, link: LinkSeen, brought: int) -> None:
        """Take in how many promising new links came with the page a link led to."""
        self.followed += 1
        self.brought += brought
        self.hub_votes.clear()
        for token in link_tokens(link, self.skip):
            worth = self.tokens.setdefault(token, _Worth())
            worth.followed += 1
            worth.brought += brought

    def chance(self, said: Sequence[str]) -> float:
        """How likely a link with these tokens leads to a wanted page: naive Bayes, unknown tokens saying nothing."""
        odds, votes = log(START / (1 - START)), self.votes
        for token in said:
            vote = votes.get(token)
            odds += self._vote(token) if vote is None else vote
        for token, missed in self._usual().items():
            if token not in said:
                odds += missed
        return 1 / (1 + exp(-max(-50.0, min(50.0, odds))))

    def _vote(self, token: str) -> float:
        worth, vote = self.tokens.get(token), 0.0
        if worth is not None:
            vote = log((worth.wanted + SMOOTH) / (self.wanted + 2 * SMOOTH))
            vote -= log((worth.seen - worth.wanted + SMOOTH) / (self.unwanted + 2 * SMOOTH))
        self.votes[token] = vote
        return vote

    def _usual(self) -> dict[str, float]:
        """Tokens that nearly all links to wanted pages carry, and what it says when one is missing."""
        if self.wanted < SAMPLE_WEIGHT + ENOUGH:
            return {}
        if self.stale:
            self.stale = False
            self.usual = {
                token: log((self.wanted - worth.wanted + SMOOTH) / (self.wanted + 2 * SMOOTH))
                - log((self.unwanted - worth.seen + worth.wanted + SMOOTH) / (self.unwanted + 2 * SMOOTH))
                for token, worth in self.tokens.items()
                if worth.wanted >= USUAL * self.wanted
            }
        return self.usual

    def hub(self, said: Sequence[str]) -> float:
        """Share of wanted pages among a hub and what it leads to: one promising link is worth a half."""
        if not self.brought:
            return 0.0
        usual = log(self.brought / (self.followed + 1))
        expected, votes = usual, self.hub_votes
        for token in said:
            vote = votes.get(token)
            expected += self._hub_vote(token, usual) if vote is None else vote
        links = exp(min(expected, 3.0))
        return links / (links + 1)

    def _hub_vote(self, token: str, usual: float) -> float:
        worth, vote = self.tokens.get(token), 0.0
        if worth is not None and worth.followed:
            vote = TRUST * (log((worth.brought + exp(usual)) / (worth.followed + 1)) - usual)
        self.hub_votes[token] = vote
        return vote

    def novelty(self, link: LinkSeen) -> float:
        """What a link is worth because few like it were tried: the same place leads to the same kind of page."""
        worth = self.tokens.get(arm(link, self.skip))
        return EXPLORE / (1 + worth.followed) if worth is not None else EXPLORE

    def score(self, link: LinkSeen) -> float:
        """What following a link promises, in [0, 1]."""
        said = link_tokens(link, self.skip)
        return max(self.chance(said), self.hub(said), self.novelty(link))

    def is_promising(self, link: LinkSeen) -> bool:
        """A link that probably leads to a wanted page."""
        return self.chance(link_tokens(link, self.skip)) >= PROMISING
