"""May this URL be visited? Decided once, when it is first met; the reason is kept with it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, Host, Reason, Url, UrlSource, UrlState
from sanderling.urls.dust import DustRule, rewrite_url
from sanderling.urls.normalize import get_host
from sanderling.urls.pattern_budget import PatternBudget
from sanderling.urls.scope import ScopeRule, check_scope
from sanderling.urls.traps import find_trap

DUPLICATE_DETAIL_PREFIX = "the same as "  # how the note of a URL begins that a learned rule spells otherwise
TRUNCATED_DETAIL = "this is its beginning"  # of a URL that is too long
PUBLISHER_SOURCES = (
    UrlSource.SITEMAP,
    UrlSource.FEED,
)  # they list pages; how far these are from a seed they do not say
SEED_SOURCE = UrlSource.SEED  # a name in a module is found faster than one in an enum
MAX_SITEMAPS = 10_000  # sitemaps and feeds of one host
MAX_RECORDED_SKIPS = 10_000  # skipped URLs of one host and reason that are written down; the rest is counted
MAX_RECORDED_LONG_URLS = 1_000  # the same for URLs that are too long, of all hosts together: each takes two kilobytes
ANY_HOST = Host("")


class UrlFilter:
    """Applies scope, depth, traps and what is known of hosts to new URLs."""

    def __init__(
        self,
        scope_rule: ScopeRule,
        depth_limit: int = -1,
        pattern_budget: PatternBudget | None = None,
        dust_rules: Sequence[DustRule] = (),
    ) -> None:
        self.scope_rule = scope_rule
        self.depth_limit = depth_limit
        self.pattern_budget = pattern_budget or PatternBudget()
        self.dust_rules = dust_rules  # learned spellings that make no difference on a site
        self.failed_hosts: dict[Host, Reason] = {}
        self.blocklist: re.Pattern[str] | None = None  # URLs that a person took out, and that stay out
        self.full_hosts: set[Host] = set()  # hosts that have all the pages they may have
        self.skip_counts: Counter[tuple[Host, Reason]] = Counter()
        self.sitemap_counts: Counter[Host] = Counter()
        self.unrecorded_skips = 0
        self.start_depths: Mapping[str, int] = {}  # the level a seed begins at, if that is not 0
        self.host_start_depths: dict[Host, int] = {}  # the same for the sitemaps of its host

    def set_start_depths(self, start_depths: Mapping[str, int]) -> None:
        """Let seeds, and the sitemaps of their hosts, begin at these levels."""
        self.start_depths = start_depths
        for seed, level in start_depths.items():
            host = get_host(Url(seed))
            self.host_start_depths[host] = min(level, self.host_start_depths.get(host, level))

    def get_seed_depth(self, url: Url) -> int:
        """The level a seed begins at."""
        return self.start_depths.get(url, 0)

    def get_sitemap_depth(self, host: Host) -> int:
        """The level of a sitemap: that of its host's seed."""
        return self.host_start_depths.get(host, 0)

    def admit(self, candidate: CandidateUrl, nofollow: bool, now: float) -> FrontierEntry | None:
        """Queue it or skip it with a reason; None when the list of skipped ones is long enough already."""
        reason, note = self.find_rejection(candidate.url, candidate.depth, candidate.source, nofollow, now)
        if not reason:
            return FrontierEntry(candidate, UrlState.QUEUED)
        return (
            FrontierEntry(candidate, UrlState.SKIPPED, reason, note)
            if self.should_record(candidate.url, reason)
            else None
        )

    def should_record(self, url: Url, reason: Reason) -> bool:
        """Is a skipped URL written down? One more of its host and reason is counted."""
        key, most = (get_host(url), reason), MAX_RECORDED_SKIPS
        if reason is Reason.TOO_LONG:
            key, most = (ANY_HOST, reason), MAX_RECORDED_LONG_URLS
        self.skip_counts[key] += 1
        if self.skip_counts[key] > most:
            self.unrecorded_skips += 1
            return False
        return True

    def can_add_sitemap(self, host: Host) -> bool:
        """May one more sitemap of this host be read?"""
        self.sitemap_counts[host] += 1
        return self.sitemap_counts[host] <= MAX_SITEMAPS

    def find_rejection(
        self, url: Url, depth: int, source: UrlSource, nofollow: bool, now: float, *, is_redirect_target: bool = False
    ) -> tuple[Reason, str]:
        """Say why a new URL is not to be visited, with a note; NONE if it is.

        `is_back`: a server leads to it from the spelling that a rule gives it, so the rule does not hold.
        """
        if self.blocklist is not None and self.blocklist.fullmatch(url):
            return Reason.DELETED, ""
        reason = check_scope(self.scope_rule, url)
        if reason:
            return reason, TRUNCATED_DETAIL if reason is Reason.TOO_LONG else ""
        if nofollow:
            return (Reason.FOREIGN_SITEMAP if source in PUBLISHER_SOURCES else Reason.NOFOLLOW), ""
        if 0 <= self.depth_limit < depth:
            return Reason.DEPTH, ""
        if source is not SEED_SOURCE:
            if self.dust_rules and not is_redirect_target:
                usual = rewrite_url(url, self.dust_rules)
                if usual != url:
                    return Reason.DUPLICATE, DUPLICATE_DETAIL_PREFIX + usual
            note = find_trap(url, now) or self.pattern_budget.count_url(url)
            if note:
                return Reason.TRAP, note
        if self.full_hosts and get_host(url) in self.full_hosts:
            return Reason.HOST_LIMIT, ""
        if self.failed_hosts:
            return self.failed_hosts.get(get_host(url), Reason.NONE), ""
        return reason, ""

    def is_too_deep(self, depth: int) -> bool:
        """Is this depth beyond the limit?"""
        return 0 <= self.depth_limit < depth
