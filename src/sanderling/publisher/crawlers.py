"""Who is asking: a person, a machine, or a crawler whose name can be verified."""

import re
import socket
from collections.abc import Callable
from functools import lru_cache

MACHINE = re.compile(
    r"""(?<!cu)bot(?:\b|[/_;-])|crawl|spider|slurp|archiver|scrap(?:er|y)|fetch(?:er)?\b|sitemap|validator|checker|monitor|uptime
    |pingdom|lighthouse|headless|phantomjs|puppeteer|playwright|selenium|preview|externalhit|embedly|whatsapp|facebookcatalog
    |feed(?:ly|burner|parser|fetcher)|\brss|curl|wget|python|httpx|aiohttp|urllib|requests|libwww|lwp|perl|java/|okhttp|go-http
    |apache-httpclient|node-fetch|axios|undici|ruby|php/|guzzle|winhttp|nutch|heritrix|httrack|sanderling|gptbot|ccbot|claude
    |bytespider|semrush|ahrefs|mediapartners|adsbot|bingpreview|yandex(?:images|metrika)|zgrab|masscan|nmap|nikto|dataprovider
    |\+https?:""",  # a person's browser names no address
    re.IGNORECASE | re.VERBOSE,
)

# Crawlers whose owners say by which names their addresses resolve, forward and back.
VERIFIABLE = {
    "googlebot": (".googlebot.com", ".google.com"),
    "google-inspectiontool": (".googlebot.com", ".google.com"),
    "bingbot": (".search.msn.com",),
    "applebot": (".applebot.apple.com",),
    "yandexbot": (".yandex.ru", ".yandex.net", ".yandex.com"),
    "baiduspider": (".baidu.com", ".baidu.jp"),
    "seznambot": (".seznam.cz",),
    "petalbot": (".petalsearch.com",),
}

Resolve = Callable[[str], list[str]]
Verify = Callable[[str, str], bool]  # user agent and address


@lru_cache(maxsize=4096)
def is_machine(agent: str) -> bool:
    """Say if a user agent is no person at a browser; one that says nothing is none."""
    return len(agent) < 8 or MACHINE.search(agent) is not None


def claimed_name(agent: str) -> str:
    """Give the name a crawler goes by, for counting: a known one, `machine` for any other, empty for a person."""
    lowered = agent.lower()
    known = next((name for name in VERIFIABLE if name in lowered), "")
    return known or ("machine" if is_machine(agent) else "")


def names_of(address: str) -> list[str]:
    """Ask the resolver by which names an address goes."""
    try:
        name, others, _ = socket.gethostbyaddr(address)
    except OSError:
        return []
    return [name, *others]


def addresses_of(name: str) -> list[str]:
    """Ask the resolver for the addresses of a name."""
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(name, None)]
    except OSError:
        return []


@lru_cache(maxsize=4096)
def verify_by_dns(agent: str, address: str) -> bool:
    """Verify a crawler by asking the resolver, back and forth; answers are remembered."""
    return is_verified(agent, address)


def is_verified(agent: str, address: str, names: Resolve = names_of, addresses: Resolve = addresses_of) -> bool:
    """Say if a crawler is who it says: its address has a name of its owner, and that name has its address."""
    endings = VERIFIABLE.get(claimed_name(agent))
    if endings is None or not address:
        return False  # nobody says how to verify it: the resolver is not asked
    owned = [name for name in names(address) if name.lower().rstrip(".").endswith(endings)]
    return any(address in addresses(name) for name in owned)
