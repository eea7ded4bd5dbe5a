"""What belongs to a crawl: page, prefix, host, domain or any, relative to its seeds; then include and exclude.

One site answers under several names: `http` and `https`, `www.example.org` and `example.org` are one site here, as
people mean it. They stay different URLs, with different keys and different robots.txt.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import UsageError
from sanderling.models import Host, Reason, Url
from sanderling.urls.normalize import LENGTH_LIMIT, host_of, split
from sanderling.urls.site import registrable_domain


class Scope(StrEnum):
    """How far from its seeds a crawl may go."""

    PAGE = "page"  # the seeds only
    PREFIX = "prefix"  # what lies in the folder of a seed, or below
    HOST = "host"  # the site of a seed
    DOMAIN = "domain"  # every host of the registered domain of a seed
    ANY = "any"


WANTED, USUAL = Reason.NONE, Scope.HOST  # names in a module are found faster than those in an enum


class ScopeRule(Struct, frozen=True):
    """A scope with its seeds taken apart once; made by `scope_rule`, widened by `with_seed`."""

    scope: Scope
    seeds: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()  # of the seeds
    places: frozenset[str] = frozenset()  # sites, folders or domains of the seeds, as the scope asks
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    length_limit: int = LENGTH_LIMIT


def scope_rule(
    seeds: Iterable[Url],
    scope: Scope = Scope.HOST,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    length_limit: int = LENGTH_LIMIT,
) -> ScopeRule:
    """Make the rule of a crawl; a pattern that is no regular expression is a UsageError."""
    rule = ScopeRule(scope, include=tuple(include), exclude=tuple(exclude), length_limit=length_limit)
    for pattern in rule.include + rule.exclude:
        _compiled(pattern)
    return _widened(rule, seeds)


def with_seed(rule: ScopeRule, seed: Url) -> ScopeRule:
    """Widen a rule by one more seed: a new one, or where a seed was redirected to."""
    return _widened(rule, [seed])


def _widened(rule: ScopeRule, new: Iterable[Url]) -> ScopeRule:
    seeds = frozenset(map(str, new))
    return replace(
        rule,
        seeds=rule.seeds | seeds,
        sites=rule.sites.union(map(site_of, seeds)),
        places=rule.places.union(_place(rule.scope, seed) for seed in seeds),
    )


def verdict(rule: ScopeRule, url: str) -> Reason:
    """Say why a URL is not wanted; NONE if it is. A seed needs no include, but heeds exclude."""
    if len(url) > rule.length_limit:
        return Reason.TOO_LONG
    if rule.exclude and any(_compiled(pattern).search(url) for pattern in rule.exclude):
        return Reason.EXCLUDED
    if url in rule.seeds:
        return WANTED
    if not _is_within(rule, url):
        return Reason.OUT_OF_SCOPE
    if rule.include and not any(_compiled(pattern).search(url) for pattern in rule.include):
        return Reason.OUT_OF_SCOPE
    return WANTED


def site_of(url: str) -> str:
    """Give what scheme and `www.` do not change: the authority one site answers under."""
    return _site(host_of(url))


def is_site_of_seed(rule: ScopeRule, host: str) -> bool:
    """Tell whether a host is one whose pages the crawl may want: where looking for sitemaps makes sense."""
    if rule.scope is Scope.PAGE:
        return False
    return _is_within(rule, host + "/") or _site(host) in rule.sites


def admissible(url: str, sitemap_url: str, robots_named: Collection[Host] = ()) -> bool:
    """Tell whether a sitemap may speak for a URL: of its own site, or of a host whose robots.txt names the sitemap."""
    return site_of(url) == site_of(sitemap_url) or host_of(url) in robots_named


def is_at_location(url: str, sitemap_url: str) -> bool:
    """Tell whether a URL lies in the folder of a sitemap or below: the strict rule of sitemaps.org, for reports."""
    return url.startswith(sitemap_url.partition("?")[0].rpartition("/")[0] + "/")


def _is_within(rule: ScopeRule, url: str) -> bool:
    if rule.scope is USUAL:  # the same as below, for nearly every new link
        return _site(url[: url.index("/", 8)]) in rule.places
    match rule.scope:
        case Scope.ANY:
            return True
        case Scope.PAGE:
            return False  # seeds were let in before
        case Scope.PREFIX:
            host, path = split(url)
            return any(folder in rule.places for folder in _folders(_site(host) + path))
        case _:
            return _place(rule.scope, url) in rule.places


def _folders(place: str) -> Iterator[str]:
    """The folders a place lies in, the outermost first."""
    end = place.find("/")
    while end >= 0:
        yield place[: end + 1]
        end = place.find("/", end + 1)


def _place(scope: Scope, url: str) -> str:
    match scope:
        case Scope.PREFIX:
            host, path = split(url)
            return _site(host) + path.partition("?")[0].rpartition("/")[0] + "/"
        case Scope.DOMAIN:
            return registrable_domain(host_of(url))
        case _:
            return site_of(url)


@lru_cache(maxsize=4096)
def _site(host: str) -> str:
    authority = host.partition("//")[2]
    bare = authority.removeprefix("www.")
    return bare if "." in bare else authority


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{pattern!r} is no regular expression ({error}): escape what is meant literally") from None


def is_like(text: str, pattern: str) -> bool:
    """Say whether a text is like a pattern: * stands for anything, all else (? and brackets too) for itself."""
    return _likeness(pattern).fullmatch(text) is not None


@lru_cache(maxsize=8)
def _likeness(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
