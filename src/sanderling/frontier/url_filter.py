"""May this URL be visited? Decided once, when it is first met; the reason is kept with it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from sanderling.frontier.url_store import Entry
from sanderling.models import Candidate, Host, Reason, Source, State, Url
from sanderling.urls.dust import Rule, rewrite
from sanderling.urls.normalize import host_of
from sanderling.urls.pattern_budget import PatternBudget
from sanderling.urls.scope import ScopeRule, verdict
from sanderling.urls.traps import trap_in

SAME_AS = "the same as "  # how the note of a URL begins that a learned rule spells otherwise
BEGINNING = "this is its beginning"  # of a URL that is too long
OWNERS = (Source.SITEMAP, Source.FEED)  # they list pages; how far these are from a seed they do not say
SEED = Source.SEED  # a name in a module is found faster than one in an enum
MAX_MAPS = 10_000  # sitemaps and feeds of one host
MAX_LISTED = 10_000  # skipped URLs of one host and reason that are written down; the rest is counted
MAX_LONG = 1_000  # the same for URLs that are too long, of all hosts together: each takes two kilobytes
ANYWHERE = Host("")


class Judge:
    """Applies scope, depth, traps and what is known of hosts to new URLs."""

    def __init__(
        self,
        rule: ScopeRule,
        depth_limit: int = -1,
        budget: PatternBudget | None = None,
        rules: Sequence[Rule] = (),
    ) -> None:
        self.rule = rule
        self.depth_limit = depth_limit
        self.budget = budget or PatternBudget()
        self.rules = rules  # learned spellings that make no difference on a site
        self.condemned: dict[Host, Reason] = {}
        self.forgotten: re.Pattern[str] | None = None  # URLs that a person took out, and that stay out
        self.full: set[Host] = set()  # hosts that have all the pages they may have
        self.listed: Counter[tuple[Host, Reason]] = Counter()
        self.maps: Counter[Host] = Counter()
        self.unlisted = 0
        self.starts: Mapping[str, int] = {}  # the level a seed begins at, if that is not 0
        self.levels: dict[Host, int] = {}  # the same for the sitemaps of its host

    def begin_at(self, starts: Mapping[str, int]) -> None:
        """Let seeds, and the sitemaps of their hosts, begin at these levels."""
        self.starts = starts
        for seed, level in starts.items():
            host = host_of(Url(seed))
            self.levels[host] = min(level, self.levels.get(host, level))

    def seed_level(self, url: Url) -> int:
        """The level a seed begins at."""
        return self.starts.get(url, 0)

    def map_level(self, host: Host) -> int:
        """The level of a sitemap: that of its host's seed."""
        return self.levels.get(host, 0)

    def judge(self, candidate: Candidate, nofollow: bool, now: float) -> Entry | None:
        """Queue it or skip it with a reason; None when the list of skipped ones is long enough already."""
        reason, note = self.why_not(candidate.url, candidate.depth, candidate.source, nofollow, now)
        if not reason:
            return Entry(candidate, State.QUEUED)
        return Entry(candidate, State.SKIPPED, reason, note) if self.lists(candidate.url, reason) else None

    def lists(self, url: Url, reason: Reason) -> bool:
        """Is a skipped URL written down? One more of its host and reason is counted."""
        key, most = (host_of(url), reason), MAX_LISTED
        if reason is Reason.TOO_LONG:
            key, most = (ANYWHERE, reason), MAX_LONG
        self.listed[key] += 1
        if self.listed[key] > most:
            self.unlisted += 1
            return False
        return True

    def admits_map(self, host: Host) -> bool:
        """May one more sitemap of this host be read?"""
        self.maps[host] += 1
        return self.maps[host] <= MAX_MAPS

    def why_not(
        self, url: Url, depth: int, source: Source, nofollow: bool, now: float, *, is_back: bool = False
    ) -> tuple[Reason, str]:
        """Say why a new URL is not to be visited, with a note; NONE if it is.

        `is_back`: a server leads to it from the spelling that a rule gives it, so the rule does not hold.
        """
        if self.forgotten is not None and self.forgotten.fullmatch(url):
            return Reason.FORGOTTEN, ""
        reason = verdict(self.rule, url)
        if reason:
            return reason, BEGINNING if reason is Reason.TOO_LONG else ""
        if nofollow:
            return (Reason.FOREIGN if source in OWNERS else Reason.NOFOLLOW), ""
        if 0 <= self.depth_limit < depth:
            return Reason.DEPTH, ""
        if source is not SEED:
            if self.rules and not is_back:
                usual = rewrite(url, self.rules)
                if usual != url:
                    return Reason.DUPLICATE, SAME_AS + usual
            note = trap_in(url, now) or self.budget.refuse(url)
            if note:
                return Reason.TRAP, note
        if self.full and host_of(url) in self.full:
            return Reason.HOST_LIMIT, ""
        if self.condemned:
            return self.condemned.get(host_of(url), Reason.NONE), ""
        return reason, ""

    def is_too_deep(self, depth: int) -> bool:
        """Is this depth beyond the limit?"""
        return 0 <= self.depth_limit < depth
