"""URL filter: decide whether a new URL is crawled. The decision is made once and stored with the URL."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sanderling.frontier.repeated_content import RepeatedContent
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, Host, Reason, Url, UrlRole, UrlSource, UrlState
from sanderling.plugins.url_rules import NamedRule, find_rule_rejection
from sanderling.urls.dust import DustRule, rewrite_url
from sanderling.urls.normalize import get_host
from sanderling.urls.pattern_budget import PatternBudget
from sanderling.urls.scope import ScopeRule, add_page, add_seed, check_scope, find_exclusion
from sanderling.urls.traps import find_trap
from sanderling.urls.unsafe_actions import find_unsafe_action, is_post_url

DUPLICATE_DETAIL_PREFIX = "the same as "  # detail of a URL that a DUST rule rewrites; the rewritten URL follows
TRUNCATED_DETAIL = "URL truncated"
PUBLISHER_SOURCES = (UrlSource.SITEMAP, UrlSource.FEED)  # lists of pages that do not tell their link depth
SEED_SOURCE = UrlSource.SEED  # module names resolve faster than enum members
MAX_SITEMAPS = 10_000  # sitemaps and feeds per host
MAX_RECORDED_SKIPS = 10_000  # skipped URLs stored per host and reason; the rest is only counted
MAX_RECORDED_LONG_URLS = 1_000  # of all hosts together: each takes two kilobytes
ANY_HOST = Host("")


class UrlFilter:
    """Applies scope, depth, trap, DUST and host rules to new URLs."""

    def __init__(  # noqa: PLR0913 one argument per rule
        self,
        scope_rule: ScopeRule,
        depth_limit: int = -1,
        pattern_budget: PatternBudget | None = None,
        dust_rules: Sequence[DustRule] = (),
        *,
        blocklist: re.Pattern[str] | None = None,  # URLs that a user deleted
        start_depths: Mapping[str, int] | None = None,  # depth of seeds, if not 0
        repeated_content: RepeatedContent | None = None,
        plugin_rules: Sequence[NamedRule] = (),
        refuses_actions: bool = False,  # skip URLs that look as if they change something
    ) -> None:
        self.refuses_actions = refuses_actions
        self.unsafe_labels: set[Url] = set()  # links whose text is an action
        self.plugin_rules = plugin_rules
        self.scope_rule = scope_rule
        self.depth_limit = depth_limit
        self.pattern_budget = pattern_budget or PatternBudget()
        self.repeated_content = RepeatedContent() if repeated_content is None else repeated_content
        self.dust_rules = dust_rules
        self.blocklist = blocklist
        self.failed_hosts: dict[Host, Reason] = {}
        self.full_hosts: set[Host] = set()  # hosts that reached their page limit
        self.skip_counts: Counter[tuple[Host, Reason]] = Counter()
        self.sitemap_counts: Counter[Host] = Counter()
        self.unrecorded_skips = 0
        self.start_depths = start_depths or {}
        self.host_start_depths: dict[Host, int] = {}  # depth of the sitemaps of a host
        for seed, level in self.start_depths.items():
            host = get_host(Url(seed))
            self.host_start_depths[host] = min(level, self.host_start_depths.get(host, level))

    def extend_scope(self, *, pages: Iterable[Url] = (), seeds: Iterable[Url] = ()) -> None:
        """Add pages without their sites, and seeds with theirs."""
        for page in pages:
            self.scope_rule = add_page(self.scope_rule, page)
        for seed in seeds:
            self.scope_rule = add_seed(self.scope_rule, seed)

    def get_seed_depth(self, url: Url) -> int:
        return self.start_depths.get(url, 0)

    def get_sitemap_depth(self, host: Host) -> int:
        """Return the depth of a sitemap: that of the shallowest seed of its host."""
        return self.host_start_depths.get(host, 0)

    def admit(self, candidate: CandidateUrl, nofollow: bool, now: float) -> FrontierEntry | None:
        """Return an entry that queues or skips the URL.

        None: enough skipped URLs are stored already.
        """
        if candidate.role is UrlRole.REQUISITE:
            reason, detail = self.find_requisite_rejection(candidate.url, now)
        else:
            reason, detail = self.find_rejection(candidate.url, candidate.depth, candidate.source, nofollow, now)
        if not reason:
            return FrontierEntry(candidate, UrlState.QUEUED)
        return (
            FrontierEntry(candidate, UrlState.SKIPPED, reason, detail)
            if self.should_record(candidate.url, reason)
            else None
        )

    def should_record(self, url: Url, reason: Reason) -> bool:
        """Count a skipped URL of its host and reason; return False beyond the number stored."""
        key, limit = (get_host(url), reason), MAX_RECORDED_SKIPS
        if reason is Reason.TOO_LONG:
            key, limit = (ANY_HOST, reason), MAX_RECORDED_LONG_URLS
        self.skip_counts[key] += 1
        if self.skip_counts[key] > limit:
            self.unrecorded_skips += 1
            return False
        return True

    def can_add_sitemap(self, host: Host) -> bool:
        """Count a sitemap of this host; return False beyond `MAX_SITEMAPS`."""
        self.sitemap_counts[host] += 1
        return self.sitemap_counts[host] <= MAX_SITEMAPS

    def find_rejection(  # noqa: PLR0911 one return per reason
        self, url: Url, depth: int, source: UrlSource, nofollow: bool, now: float, *, is_redirect_target: bool = False
    ) -> tuple[Reason, str]:
        """Return the reason not to crawl a URL (empty: crawl it), with a detail.

        `is_redirect_target`: the server redirects to this URL from its rewritten form, so the DUST rule does not hold.
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
        if self.refuses_actions and source is not SEED_SOURCE and (detail := self._find_action(url, source)):
            return Reason.UNSAFE, detail
        if source is not SEED_SOURCE:
            if self.dust_rules and not is_redirect_target:
                rewritten = rewrite_url(url, self.dust_rules)
                if rewritten != url:
                    return Reason.DUPLICATE, DUPLICATE_DETAIL_PREFIX + rewritten
            # A list of a publisher has an end.
            is_checked = self.repeated_content.exhausted and source not in PUBLISHER_SOURCES
            if is_checked and (detail := self.repeated_content.describe_rejection(url)):
                return Reason.REPEATED_CONTENT, detail
            detail = find_trap(url, now) or self.pattern_budget.count_url(url)
            if detail:
                return Reason.TRAP, detail
        if self.plugin_rules and (detail := find_rule_rejection(self.plugin_rules, url, depth)):
            return Reason.EXCLUDED, detail
        return self._find_host_rejection(url) if self.full_hosts or self.failed_hosts else (reason, "")

    def _find_action(self, url: Url, source: UrlSource) -> str:
        """Return why a URL looks as if it changes something, or ""."""
        if url in self.unsafe_labels:
            return "the text of its link is an action"
        is_foreign_post = source is not UrlSource.FORM and is_post_url(url)  # only a recipe sends it
        return find_unsafe_action(url) or ("POST" if is_foreign_post else "")

    def _find_host_rejection(self, url: Url) -> tuple[Reason, str]:
        host = get_host(url)
        return (Reason.HOST_LIMIT if host in self.full_hosts else self.failed_hosts.get(host, Reason.NONE)), ""

    def find_requisite_rejection(self, url: Url, now: float) -> tuple[Reason, str]:
        """Return the reason not to fetch a page requisite: like a page, but from any host and at any depth."""
        rule = self.scope_rule
        if self.blocklist is not None and self.blocklist.fullmatch(url):
            return Reason.DELETED, ""
        if (reason := find_exclusion(rule, url)) is not Reason.NONE:
            return reason, ""
        if detail := find_trap(url, now):
            return Reason.TRAP, detail
        return self.failed_hosts.get(get_host(url), Reason.NONE), ""

    def is_too_deep(self, depth: int) -> bool:
        return 0 <= self.depth_limit < depth
