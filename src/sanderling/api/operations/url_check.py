"""Check how a URL, robots.txt, page, or sitemap is interpreted, without crawling."""

import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings
from sanderling.config.time_format import format_iso
from sanderling.crawl.probe import ProbeResult, probe_robots, probe_url
from sanderling.crawl.request import CrawlRequest, build_fetch_settings, parse_seed
from sanderling.discovery.entry_types import SitemapEntry, SitemapKind
from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.errors import UsageError
from sanderling.fetch.address_guard import is_global, parse_ip_literal
from sanderling.fetch.robots import build_robots_rules, find_deciding_line
from sanderling.fetch.usage_preferences import describe_usage, find_denial, parse_robots_preferences
from sanderling.frontier.hosts import HostStore
from sanderling.frontier.url_rows import load_state
from sanderling.html.links import extract_metadata
from sanderling.html.parser import is_html, parse_charset, parse_html
from sanderling.html.text import render_text
from sanderling.models import Outcome, Reason, RobotsTxt, Url, UrlRole
from sanderling.storage.collection import has_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.queries import find_url_id
from sanderling.urls.dust import load_rules, rewrite_url
from sanderling.urls.normalize import (
    NormalizedUrl,
    find_rejection_reason,
    get_host,
    get_hostname,
    normalize_url,
    resolve_url,
)
from sanderling.urls.registrable_domain import get_registrable_domain
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import build_scope_rule, can_sitemap_list, check_scope, is_below_sitemap
from sanderling.urls.traps import find_trap

MAX_ENTRIES = 20  # of a sitemap that are listed
FORBIDDEN = "forbidden"


class UrlCheck(Struct, frozen=True):
    """Checks of URLs with the settings of a crawl. Seeds that are not given are those of the collection."""

    folder: Path
    scope: ScopeSettings = ScopeSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetching: HttpSettings = HttpSettings()
    seeds: tuple[str, ...] = ()

    def check_url(self, raw: str) -> dict[str, object]:
        """Check normalization, scope, traps, and the state in the collection."""
        spelling = parse_url_argument(raw)
        scope = self.scope
        rule = build_scope_rule(self._load_seeds(spelling), ScopeKind(scope.scope), scope.include, scope.exclude)
        reason, trap = (
            check_scope(rule, spelling.url) or self._check_address(spelling),
            find_trap(spelling.url, time.time()),
        )
        found: dict[str, object] = {
            "url": spelling.url,
            "request_url": spelling.request_url,
            "host": get_host(spelling.url),
            "domain": get_registrable_domain(get_host(spelling.url)),
            "result": reason or (Reason.TRAP if trap else "would be crawled"),
            "trap": trap,
        }
        if has_collection(self.folder):
            with open_collection_read_only(self.folder) as collection:
                id_ = find_url_id(collection.db, spelling.url)
                row = load_state(collection.db, id_)
                robots = HostStore(collection.db).get_robots(get_host(spelling.url))
                usual = rewrite_url(spelling.url, load_rules(collection.db))
            agent = build_fetch_settings(self._build_request()).agent_token
            found["robots"] = _check_stored_robots(robots, spelling, agent)
            if found["robots"] == FORBIDDEN and not reason and not trap:
                found["result"] = Reason.ROBOTS
            if usual != spelling.url:  # by the rules that sanderling url-rules has in use
                found["same_as"] = usual
                found["result"] = found["result"] if reason or trap else Reason.DUPLICATE
            if row is not None and row[1] == Reason.DELETED:
                found["result"] = Reason.DELETED
            found["in_collection"] = "unknown" if row is None else f"{row[0]} {row[1]}".strip() + f", depth {row[2]}"
        return found

    def _load_seeds(self, url: NormalizedUrl) -> list[Url]:
        """Return the seeds: from --seed, from the collection, or the URL itself."""
        if not self.seeds and has_collection(self.folder):
            with open_collection_read_only(self.folder) as collection:
                return [Url(seed) for seed in CollectionMeta(collection.db).seeds] or [url.url]
        return [parse_url_argument(seed).url for seed in self.seeds] or [url.url]

    def _check_address(self, url: NormalizedUrl) -> Reason:
        """Reject literal private addresses. Host names are checked when they are resolved."""
        name = get_hostname(get_host(url.url))
        address = parse_ip_literal(name)
        private = f".{name.rstrip('.')}".endswith(".localhost") if address is None else not is_global(address)
        refused = private and not self.fetching.allow_private
        return Reason.PRIVATE_ADDRESS if refused else Reason.NONE

    def _build_request(self) -> CrawlRequest:
        return CrawlRequest((), politeness=self.politeness, fetching=self.fetching)

    def check_robots(self, raw: str) -> dict[str, object]:
        """Fetch robots.txt of the host and check the URL against it."""
        spelling = parse_url_argument(raw)
        settings = build_fetch_settings(self._build_request())
        # For this purpose, all files that say something about the use of the host are read.
        robots = probe_robots(get_host(spelling.url), msgspec.structs.replace(settings, purpose="ai-train"))
        rules = build_robots_rules(robots, settings.agent_token)
        usage_rules = parse_robots_preferences(robots, settings.agent_token)
        denials = describe_usage(robots, settings.agent_token, spelling.request_url, None)
        return {
            "robots": f"{robots.host}/robots.txt",
            "status": robots.status,
            "bytes": len(robots.body),
            "agent": settings.agent_token,
            "allowed": rules.is_allowed(spelling.request_url),
            "why": _explain_robots(robots, settings.agent_token, spelling),
            "purpose": settings.purpose,
            "denied_by": find_denial(usage_rules, spelling.request_url, settings.purpose),
            "denied_usage": [f"{name}: {line}" for name, line in denials.items()],
            "preferences": [rule.line for rule in usage_rules],
            "crawl_delay": rules.get_crawl_delay(),
            "sitemaps": list(rules.sitemaps),
        }

    def check_parse(self, raw: str) -> dict[str, object]:
        """Fetch a page and show what the crawler extracts."""
        spelling = parse_url_argument(raw)
        answer = probe_url(spelling, build_fetch_settings(self._build_request()))
        found: dict[str, object] = {
            "url": spelling.url,
            "status": answer.status,
            "outcome": answer.outcome,
            "mime": answer.mime,
            "bytes": len(answer.body),
        }
        if answer.location:
            found["location"] = answer.location
        if answer.reason:
            found |= {"reason": answer.reason, "note": answer.detail}
        return found | _describe_page(answer, spelling) if is_html(answer.mime, answer.body) else found

    def check_sitemap(self, raw: str) -> dict[str, object]:
        """Fetch a sitemap or feed and list its entries and problems."""
        spelling = parse_url_argument(raw)
        answer = probe_url(spelling, build_fetch_settings(self._build_request()), UrlRole.SITEMAP)
        found: dict[str, object] = {"url": spelling.url, "status": answer.status, "bytes": len(answer.body)}
        if answer.outcome is not Outcome.FETCHED:
            return found | {
                "outcome": answer.outcome, "reason": answer.reason, "note": answer.detail, "location": answer.location
            }  # fmt: skip
        report = parse_sitemap([answer.body], charset=parse_charset(answer.content_type))
        spelled = [(entry, resolve_url(spelling.request_url, entry.loc)) for entry in report.entries]
        foreign = sum(1 for _, target in spelled if target and not can_sitemap_list(target.url, spelling.url))
        elsewhere = sum(1 for _, target in spelled if target and not is_below_sitemap(target.url, spelling.url))
        return found | {
            "kind": report.kind,
            "pages": len(report.entries),
            "of_other_hosts": foreign,
            "outside_its_folder": elsewhere if report.kind in (SitemapKind.URLSET, SitemapKind.TEXT) else 0,
            "with_lastmod": sum(1 for entry in report.entries if entry.lastmod is not None),
            "extensions": _list_extensions(report.entries),
            "problems": [f"{problem}: {count}" for problem, count in report.problems.items() if count],
            "sitemaps": [entry.loc for entry in report.sitemaps],
            "first": [
                {
                    "loc": target.url if target else entry.loc,
                    "lastmod": format_iso(entry.lastmod or 0.0) or "",
                    "changefreq": entry.changefreq,
                    "priority": "" if entry.priority is None else f"{entry.priority:g}",
                }
                for entry, target in spelled[:MAX_ENTRIES]
            ],
        }


def parse_url_argument(raw: str) -> NormalizedUrl:
    """Normalize a URL, or raise UsageError with the reason."""
    spelling = normalize_url(raw)
    if spelling is None and "." in raw.partition("/")[0]:
        return parse_seed(raw)  # a bare host name means https, as for a crawl
    if spelling is None:
        raise UsageError(f"{raw!r} would not be crawled: {find_rejection_reason(raw) or Reason.BAD_URL}")
    return spelling


def _check_stored_robots(robots: RobotsTxt | None, url: NormalizedUrl, agent: str) -> str:
    if robots is None:
        return "not fetched yet: run sanderling check robots"
    return "allowed" if build_robots_rules(robots, agent).is_allowed(url.request_url) else FORBIDDEN


def _explain_robots(robots: RobotsTxt, agent: str, url: NormalizedUrl) -> str:
    if not robots.is_reachable:
        problem = f"status {robots.status}" if robots.status else "no answer"
        return f"robots.txt could not be reached ({problem}): treated as disallowed"
    if not 200 <= robots.status < 300:
        return f"there is no robots.txt (status {robots.status}): no rules"
    return find_deciding_line(robots, agent, url.request_url) or "no rule matches"


def _describe_page(response: ProbeResult, url: NormalizedUrl) -> dict[str, object]:
    tree = parse_html(response.body, parse_charset(response.content_type))
    page = extract_metadata(tree, url.request_url)
    return {
        "encoding": tree.encoding,
        **{
            name: value
            for name, value in msgspec.to_builtins(page).items()
            if name not in ("links", "feeds", "sitemaps")
        },
        "noindex": response.noindex,
        "nofollow": response.nofollow,
        "feeds": list(page.feeds),
        "sitemaps": list(page.sitemaps),
        "links": [{"href": link.href, "anchor": link.anchor, "nofollow": link.nofollow} for link in page.links],
        "text": "\n".join(line for line in render_text(tree).splitlines() if line.strip())[:2000],
    }


def _list_extensions(entries: Sequence[SitemapEntry]) -> list[dict[str, object]]:
    """List the first images, videos, news, and language versions of pages."""
    parts = (
        (entry.loc, kind, part)
        for entry in entries
        for kind, found in (("image", entry.images), ("video", entry.videos), ("language", entry.alternates),
                            ("news", (entry.news,) if entry.news else ()))
        for part in found
    )  # fmt: skip
    return [
        {"kind": kind, "page": page} | {name: value for name, value in msgspec.to_builtins(part).items() if value}
        for page, kind, part in islice(parts, MAX_ENTRIES)
    ]
