"""Compare URL, robots.txt, and sitemap parsing with other libraries. Prints; writes nothing.

python -m benchmarks.frontier.url_parsing
"""

import time
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import Any
from urllib.parse import urljoin

import ada_url

from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.fetch.robots import build_robots_rules
from sanderling.models import Host, RobotsTxt
from sanderling.urls.normalize import normalize_url, resolve_urls
from sanderling.urls.pattern_budget import PatternBudget
from sanderling.urls.scope import build_scope_rule, check_scope
from sanderling.urls.traps import find_trap

BASE = "https://docs.example.org/guide/html/index.html"
LINKS = [
    "../api/package-summary.html",
    "intro.html#top",
    "https://docs.example.org/a/b/c/d.html",
    "/static/x/y.html?q=1",
    "class-use/Foo.Bar.html",
] * 10_000
ENTRY = "<url><loc>https://x.org/page-{}.html?a=1&amp;b=2</loc><lastmod>2026-01-0{}</lastmod><priority>0.5</priority></url>\n"
SITEMAP = ("<urlset>" + "".join(ENTRY.format(n, n % 9 + 1) for n in range(50_000)) + "</urlset>").encode()
RULES = b"User-agent: *\n" + b"".join(b"Disallow: /private/%d/*.cgi$\nDisallow: /%d/\n" % (n, n) for n in range(50))


def rate(count: int, work: Callable[[], object]) -> float:
    """Do the work three times; give the best count per second of processor time."""
    best = 0.0
    for _ in range(3):
        start = time.process_time()
        work()
        best = max(best, count / (time.process_time() - start))
    return best


def maybe(module: str) -> Any:
    """Import a library to compare with, if it is there."""
    try:
        return import_module(module)
    except ImportError:
        return None


def joins() -> dict[str, Callable[[], object]]:
    """All ways to resolve the links of a page."""
    ways: dict[str, Callable[[], object]] = {
        "sanderling (resolve and normalize)": lambda: resolve_urls(BASE, LINKS),
        "ada-url (resolve)": lambda: [ada_url.join_url(BASE, link) for link in LINKS],
        "urllib (resolve, wrong on many)": lambda: [urljoin(BASE, link) for link in LINKS],
    }
    if rust := maybe("url"):
        base = rust.URL.parse(BASE)
        ways["url-py (resolve)"] = lambda: [str(base.join(link)) for link in LINKS]
    if w3lib := maybe("w3lib.url"):
        ways["w3lib (resolve and canonicalize)"] = lambda: [w3lib.canonicalize_url(urljoin(BASE, x)) for x in LINKS]
    return ways


def sitemaps() -> dict[str, Callable[[], object]]:
    """All ways to read a large sitemap."""
    ways: dict[str, Callable[[], object]] = {"sanderling": lambda: parse_sitemap([SITEMAP])}
    if lxml := maybe("lxml.etree"):
        ways["lxml iterparse (fields only)"] = lambda: [
            {child.tag: child.text for child in element} for _, element in lxml.iterparse(BytesIO(SITEMAP), tag="url")
        ]
    return ways


def decisions() -> dict[str, Callable[[], object]]:
    """Decide about each new URL."""
    spelled = [spelling.url for n in range(50_000) if (spelling := normalize_url(f"{BASE}/a/b/c{n}?page={n}"))]
    rule, budget = build_scope_rule(spelled[:1]), PatternBudget()
    rules = build_robots_rules(RobotsTxt(Host("https://docs.example.org"), 200, RULES, 0.0, 0.0), "sanderling")
    return {
        "scope": lambda: [check_scope(rule, url) for url in spelled],
        "traps": lambda: [find_trap(url, 1.8e9) for url in spelled],
        "budget": lambda: [budget.count_url(url) for url in spelled],
        "robots.txt of 100 rules": lambda: [rules.is_allowed(url) for url in spelled],
    }


def main() -> None:
    """Print all rates."""
    for title, ways in (("links/s", joins()), ("sitemap entries/s", sitemaps()), ("decisions/s", decisions())):
        print(title)
        for name, work in ways.items():
            print(f"  {name:36} {rate(50_000, work):12,.0f}")


if __name__ == "__main__":
    main()
