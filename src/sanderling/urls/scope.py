"""Crawl scope relative to the seeds, and include and exclude patterns.

The same host with `http`, `https` or `www.` is the same site, although keys and robots.txt differ.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import UsageError
from sanderling.models import Host, Reason, Url
from sanderling.urls.normalize import LENGTH_LIMIT, get_host, split_url
from sanderling.urls.registrable_domain import get_registrable_domain


class Scope(StrEnum):
    """Scope relative to the seeds."""

    PAGE = "page"  # only the seeds
    PREFIX = "prefix"  # the folder of a seed and its subfolders
    HOST = "host"  # the host of a seed
    DOMAIN = "domain"  # all hosts of the registrable domain of a seed
    ANY = "any"


IN_SCOPE, DEFAULT_SCOPE = Reason.NONE, Scope.HOST  # global names are faster than enum members


class ScopeRule(Struct, frozen=True):
    """Scope with preprocessed seeds."""

    scope: Scope
    seeds: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()  # watched pages: in scope, but their sites are not
    sites: frozenset[str] = frozenset()  # of the seeds
    seed_areas: frozenset[str] = frozenset()  # sites, folders or domains of the seeds, depending on the scope
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    length_limit: int = LENGTH_LIMIT


def build_scope_rule(
    seeds: Iterable[Url],
    scope: Scope = Scope.HOST,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    length_limit: int = LENGTH_LIMIT,
    pages: Iterable[Url] = (),
) -> ScopeRule:
    """Build a scope rule. Raises UsageError for an invalid pattern."""
    rule = ScopeRule(
        scope,
        pages=frozenset(map(str, pages)),
        include=tuple(include),
        exclude=tuple(exclude),
        length_limit=length_limit,
    )
    for pattern in rule.include + rule.exclude:
        compile_pattern(pattern)
    return _add_seeds(rule, seeds)


def add_seed(rule: ScopeRule, seed: Url) -> ScopeRule:
    """Return the rule with another seed, e.g. a redirect target."""
    return _add_seeds(rule, [seed])


def _add_seeds(rule: ScopeRule, new_seeds: Iterable[Url]) -> ScopeRule:
    seeds = frozenset(map(str, new_seeds))
    return replace(
        rule,
        seeds=rule.seeds | seeds,
        sites=rule.sites.union(map(get_site, seeds)),
        seed_areas=rule.seed_areas.union(_get_area(rule.scope, seed) for seed in seeds),
    )


def add_page(rule: ScopeRule, page: Url) -> ScopeRule:
    """Return the rule with another watched page, e.g. a redirect target."""
    return replace(rule, pages=rule.pages | {str(page)})


def check_scope(rule: ScopeRule, url: str) -> Reason:
    """Return why a URL is out of scope, or NONE. Seeds and watched pages ignore include patterns."""
    if excluded := find_exclusion(rule, url):
        return excluded
    if url in rule.seeds or url in rule.pages:
        return IN_SCOPE
    if not _is_in_scope(rule, url):
        return Reason.OUT_OF_SCOPE
    if rule.include and not any(compile_pattern(pattern).search(url) for pattern in rule.include):
        return Reason.OUT_OF_SCOPE
    return IN_SCOPE


def find_exclusion(rule: ScopeRule, url: str) -> Reason:
    """Return why a URL is never fetched, wherever it is found, or NONE."""
    if len(url) > rule.length_limit:
        return Reason.TOO_LONG
    if rule.exclude and any(compile_pattern(pattern).search(url) for pattern in rule.exclude):
        return Reason.EXCLUDED
    return IN_SCOPE


def get_site(url: str) -> str:
    """Return the authority without `www.`."""
    return _strip_www(get_host(url))


def is_seed_site(rule: ScopeRule, host: str) -> bool:
    """Return whether a host may have pages in scope."""
    if rule.scope is Scope.PAGE:
        return False
    return _is_in_scope(rule, host + "/") or _strip_www(host) in rule.sites


def can_sitemap_list(url: str, sitemap_url: str, authorized_hosts: Collection[Host] = ()) -> bool:
    """Return whether a sitemap may list a URL: same site, or authorized by robots.txt."""
    return get_site(url) == get_site(sitemap_url) or get_host(url) in authorized_hosts


def is_below_sitemap(url: str, sitemap_url: str) -> bool:
    """Return whether a URL is below the folder of a sitemap (sitemaps.org)."""
    return url.startswith(sitemap_url.partition("?")[0].rpartition("/")[0] + "/")


def _is_in_scope(rule: ScopeRule, url: str) -> bool:
    if rule.scope is DEFAULT_SCOPE:  # fast path of the last case below, for nearly all links
        return _strip_www(url[: url.index("/", 8)]) in rule.seed_areas
    match rule.scope:
        case Scope.ANY:
            return True
        case Scope.PAGE:
            return False  # seeds are accepted before
        case Scope.PREFIX:
            host, path = split_url(url)
            return any(folder in rule.seed_areas for folder in _list_folders(_strip_www(host) + path))
        case _:
            return _get_area(rule.scope, url) in rule.seed_areas


def _list_folders(location: str) -> Iterator[str]:
    end = location.find("/")
    while end >= 0:
        yield location[: end + 1]
        end = location.find("/", end + 1)


def _get_area(scope: Scope, url: str) -> str:
    match scope:
        case Scope.PREFIX:
            host, path = split_url(url)
            return _strip_www(host) + path.partition("?")[0].rpartition("/")[0] + "/"
        case Scope.DOMAIN:
            return get_registrable_domain(get_host(url))
        case _:
            return get_site(url)


@lru_cache(maxsize=4096)
def _strip_www(host: str) -> str:
    authority = host.partition("//")[2]
    bare = authority.removeprefix("www.")
    return bare if "." in bare else authority


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"{pattern!r} is not a valid regular expression ({error}): escape special characters with a backslash"
        ) from None


def is_wildcard_match(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern, in linear time: * matches anything."""
    first, *parts = pattern.split("*")
    if not parts:
        return text == pattern
    last = parts.pop()
    place, end = len(first), len(text) - len(last)
    if end < place or not text.startswith(first) or not text.endswith(last):
        return False
    for part in parts:
        place = text.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True
