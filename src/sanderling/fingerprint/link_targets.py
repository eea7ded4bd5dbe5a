"""Hashes of link targets, of all links and of those in the main content.

Targets are normalized: session ids, cache busters, commit hashes, and release numbers change while the linked page
stays the same.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat

from sanderling.content.rules.share_links import is_share_link
from sanderling.fingerprint.assets import MAX_CACHED_NAMES, MAX_LINKS, hash_string
from sanderling.html.parser import Document, Element

HASH_SPACE = 1 << 32
REPEAT_HASH_STEP = 0x9E3779B1  # between hashes of repeated targets; odd, so that the sequence does not repeat
PAGE_ID_PARAMETER = re.compile(
    r"[?&;](?:id|nr|no|page_?id|article_?id|doc_?id|item_?id|p)=\d{1,9}(?=[&;]|$)", re.IGNORECASE
)
VERSION_SEGMENT = re.compile(  # /v1.2/, /3/: each release of a manual has the same pages; dates are excluded
    r"(?<!/)/(?!(?:19|20)\d\d\.\d\d?\.\d\d?/)v?\d++(?:\.\d++)++(?=/)|(?<![/\d])/v?\d\d?(?=/\D)"
)
HTML_SUFFIXES = (".html", ".htm")  # only these URLs may have a version segment
COMMIT_HASH = re.compile(  # /blob/0a1b2c3/README, gh/user/project@0a1b2c3/
    r"(?<=/)((?:commits?|blob|tree|raw|edit|blame|archive)/)(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?=[/.]|$)"
    r"|(?<=@)(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?=/|$)"
)
NON_PAGE_SCHEMES = ("javascript:", "data:")
VOLATILE_PARAMETER = re.compile(
    r";jsessionid=[^?#]*|(?<=[?&])(?:_|t|ts|v|ver|sid|phpsessid|session_?id|token|csrf\w*|nonce|hash|utm_\w+|[gf]clid|"
    r"_g[al]|mc_[ce]id|msclkid|yclid|igshid|rnd|rand|cb|time|timestamp)=[^&#]*&?",
    re.IGNORECASE,
)


def normalize_href(href: str) -> str:
    """Strip fragment, commit hash, session id, and cache busters."""
    href = strip_commit_hash(href.split("#", 1)[0].strip())
    return VOLATILE_PARAMETER.sub("", href).rstrip("?&") if "?" in href or ";" in href else href


def strip_commit_hash(href: str) -> str:
    """Strip the commit hash of a repository URL: each build of a site links to its own."""
    return COMMIT_HASH.sub(_keep_path_prefix, href)


def _keep_path_prefix(match: re.Match[str]) -> str:
    return match[1] or ""


class _TargetHashes(dict[str, int]):
    """Cache by href: a site repeats its menus on every page. 0: not a page."""

    def __missing__(self, href: str) -> int:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        target = normalize_href(href)
        value = self[href] = hash_string(target) if target and not target.startswith(NON_PAGE_SCHEMES) else 0
        return value


_target_hashes = _TargetHashes()


def hash_link_targets(tree: Document) -> set[int]:
    """Hash the targets of all links to other pages."""
    hrefs = list(map(Element.attr, tree.find_all("a"), repeat("href")))
    return set(map(_target_hashes.__getitem__, filter(None, hrefs[:MAX_LINKS]))) - {0}


class _MainLinkHashes(dict[str, int]):
    """Cache by href. 0: not a page."""

    def __missing__(self, href: str) -> int:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        target = normalize_link_path(href)
        is_excluded = not target or target.startswith(NON_PAGE_SCHEMES) or target == "mailto:" or is_share_link(href)
        value = self[href] = 0 if is_excluded else hash_string(target)
        return value


_main_link_hashes = _MainLinkHashes()


def hash_main_links(elements: Iterable[Element]) -> set[int]:
    """Hash targets in the main content, each as often as it occurs.

    Only host and path count: queries are full of tokens.
    """
    hrefs = list(filter(None, map(Element.attr, list(elements)[:MAX_LINKS], repeat("href"))))
    numbered_prefixes = _find_numbered_prefixes(hrefs)
    counts = Counter(
        hash_string("".join(_split_link_path(href)))
        if numbered_prefixes and _split_version_segment(href)[0] in numbered_prefixes
        else _main_link_hashes[href]
        for href in hrefs
    )
    counts.pop(0, None)
    return {
        (target + REPEAT_HASH_STEP * repeat_number) % HASH_SPACE
        for target, count in counts.items()
        for repeat_number in range(count)
    }


def _find_numbered_prefixes(hrefs: list[str]) -> set[str]:
    """Return prefixes before numbers that distinguish pages: a release number is equal in most links."""
    numbers: dict[str, Counter[str]] = {}
    for prefix, number in map(_split_version_segment, hrefs):
        if number:
            numbers.setdefault(prefix, Counter())[number] += 1
    return {prefix for prefix, counts in numbers.items() if 2 * max(counts.values()) <= counts.total()}


@lru_cache(maxsize=MAX_CACHED_NAMES)
def _split_version_segment(href: str) -> tuple[str, str]:
    """Return the prefix before a version segment, and the segment; empty if absent."""
    path, _ = _split_link_path(href)
    match = VERSION_SEGMENT.search(path) if path.endswith(HTML_SUFFIXES) else None
    return (path[: match.start()], match[0]) if match else ("", "")


def normalize_link_path(href: str) -> str:
    """Return host and path without a version segment."""
    path, page_id = _split_link_path(href)
    return f"{VERSION_SEGMENT.sub('', path) if path.endswith(HTML_SUFFIXES) else path}{page_id}"


def _split_link_path(href: str) -> tuple[str, str]:
    """Return host and path (relative: the last segment) and the parameters that select a page."""
    path, _, query = href.split("#", 1)[0].partition("?")
    path = strip_commit_hash(path.split(";", 1)[0].strip()).rstrip("/")
    page_id = "".join(PAGE_ID_PARAMETER.findall(f"?{query}")) if query else ""
    _, absolute, rest = path.partition("//")
    return rest if absolute else path if path.startswith("/") else path.rpartition("/")[2], page_id
