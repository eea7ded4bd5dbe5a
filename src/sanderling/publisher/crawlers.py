"""Tell people from bots by user agent, and verify well-known crawlers by DNS."""

import re
import socket
from collections.abc import Callable
from functools import lru_cache

BOT_PATTERN = re.compile(
    r"""(?<!cu)bot(?:\b|[/_;-])|crawl|spider|slurp|archiver|scrap(?:er|y)|fetch(?:er)?\b|sitemap|validator|checker|monitor|uptime
    |pingdom|lighthouse|headless|phantomjs|puppeteer|playwright|selenium|preview|externalhit|embedly|whatsapp|facebookcatalog
    |feed(?:ly|burner|parser|fetcher)|\brss|curl|wget|python|httpx|aiohttp|urllib|requests|libwww|lwp|perl|java/|okhttp|go-http
    |apache-httpclient|node-fetch|axios|undici|ruby|php/|guzzle|winhttp|nutch|heritrix|httrack|sanderling|gptbot|ccbot|claude
    |bytespider|semrush|ahrefs|mediapartners|adsbot|bingpreview|yandex(?:images|metrika)|zgrab|masscan|nmap|nikto|dataprovider
    |\+https?:""",  # browsers do not contain a URL
    re.IGNORECASE | re.VERBOSE,
)

# Crawlers whose owners document the host names of their addresses.
VERIFIABLE_CRAWLERS = {
    "googlebot": (".googlebot.com", ".google.com"),
    "google-inspectiontool": (".googlebot.com", ".google.com"),
    "bingbot": (".search.msn.com",),
    "applebot": (".applebot.apple.com",),
    "yandexbot": (".yandex.ru", ".yandex.net", ".yandex.com"),
    "baiduspider": (".baidu.com", ".baidu.jp"),
    "seznambot": (".seznam.cz",),
    "petalbot": (".petalsearch.com",),
}

ResolveFunction = Callable[[str], list[str]]
VerifyFunction = Callable[[str, str], bool]  # user agent and address


@lru_cache(maxsize=4096)
def is_bot(user_agent: str) -> bool:
    """Return True also for an empty user agent."""
    return len(user_agent) < 8 or BOT_PATTERN.search(user_agent) is not None


def get_claimed_name(user_agent: str) -> str:
    """Return the name of a known crawler, `machine` for other bots, or ""."""
    lower_agent = user_agent.lower()
    known_name = next((name for name in VERIFIABLE_CRAWLERS if name in lower_agent), "")
    return known_name or ("machine" if is_bot(user_agent) else "")


def resolve_names(address: str) -> list[str]:
    """Return the host names of an address (reverse DNS)."""
    try:
        name, aliases, _ = socket.gethostbyaddr(address)
    except OSError:
        return []
    return [name, *aliases]


def resolve_addresses(host_name: str) -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host_name, None)]
    except OSError:
        return []


@lru_cache(maxsize=4096)
def verify_by_dns(user_agent: str, address: str) -> bool:
    """Verify a crawler by DNS. Results are cached."""
    return is_verified_crawler(user_agent, address)


def is_verified_crawler(
    user_agent: str,
    address: str,
    lookup_names: ResolveFunction = resolve_names,
    lookup_addresses: ResolveFunction = resolve_addresses,
) -> bool:
    """Return whether the address resolves to a host name of the crawler's owner, and back."""
    suffixes = VERIFIABLE_CRAWLERS.get(get_claimed_name(user_agent))
    if suffixes is None or not address:
        return False  # not documented: no lookup
    owned_names = [name for name in lookup_names(address) if name.lower().rstrip(".").endswith(suffixes)]
    return any(address in lookup_addresses(name) for name in owned_names)
