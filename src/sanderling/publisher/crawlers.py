"""Who is asking: a person, a machine, or a crawler whose name can be verified."""

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
    |\+https?:""",  # a person's browser names no address
    re.IGNORECASE | re.VERBOSE,
)

# Crawlers whose owners say by which names their addresses resolve, forward and back.
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
    """Say if a user agent is no person at a browser; one that says nothing is none."""
    return len(user_agent) < 8 or BOT_PATTERN.search(user_agent) is not None


def get_claimed_name(user_agent: str) -> str:
    """Give the name a crawler goes by, for counting: a known one, `machine` for any other, empty for a person."""
    lowered = user_agent.lower()
    known = next((name for name in VERIFIABLE_CRAWLERS if name in lowered), "")
    return known or ("machine" if is_bot(user_agent) else "")


def resolve_names(address: str) -> list[str]:
    """Ask the resolver by which names an address goes."""
    try:
        name, others, _ = socket.gethostbyaddr(address)
    except OSError:
        return []
    return [name, *others]


def resolve_addresses(host_name: str) -> list[str]:
    """Ask the resolver for the addresses of a name."""
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host_name, None)]
    except OSError:
        return []


@lru_cache(maxsize=4096)
def verify_by_dns(user_agent: str, address: str) -> bool:
    """Verify a crawler by asking the resolver, back and forth; answers are remembered."""
    return is_verified_crawler(user_agent, address)


def is_verified_crawler(
    user_agent: str,
    address: str,
    lookup_names: ResolveFunction = resolve_names,
    lookup_addresses: ResolveFunction = resolve_addresses,
) -> bool:
    """Say if a crawler is who it says: its address has a name of its owner, and that name has its address."""
    endings = VERIFIABLE_CRAWLERS.get(get_claimed_name(user_agent))
    if endings is None or not address:
        return False  # nobody says how to verify it: the resolver is not asked
    owned = [name for name in lookup_names(address) if name.lower().rstrip(".").endswith(endings)]
    return any(address in lookup_addresses(name) for name in owned)
