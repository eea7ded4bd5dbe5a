"""The crawler's half: find a site's list of changes, ask for it, read it. Pure functions; the caller fetches.

A list is sitemap XML with ResourceSync marks. It is scanned, not parsed: what comes from the web may be cut, huge or
hostile, and a scan of bounded bytes always ends.
"""

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlencode, urljoin, urlsplit

from sanderling.publisher.http_dates import parse_time

MAX_LIST_BYTES = 64 << 20  # bytes of a list that are looked at
MAX_ENTRY_LENGTH = 20_000  # characters of one entry
FIELD_PATTERN = re.compile(r"<(loc|lastmod|priority)>([^<]{0,8000})</\1>")
CHANGE_PATTERN = re.compile(r"<rs:md\s[^<>]{0,500}?\bchange\s*=\s*[\"'](created|updated|deleted)[\"']")
PERIOD_PATTERN = re.compile(r"<rs:md\s[^<>]{0,500}?\bcapability\s*=\s*[\"']changelist[\"'][^<>]{0,500}+>")
LINK_TAG_PATTERN = re.compile(r"<rs:ln\s[^<>]{0,9000}+>")
ATTRIBUTE_PATTERN = re.compile(r"\b(rel|href|from|until)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
LINK_HEADER_PATTERN = re.compile(r"<([^<>]{1,8000})>\s*((?:;[^,<>]{0,500})*)")


@dataclass(frozen=True, slots=True)
class ListedChange:
    """One page of a list."""

    url: str
    change_type: str  # created, updated, deleted; empty if the list does not say
    priority: float | None  # None: not given
    modified_ms: int | None  # milliseconds


@dataclass(frozen=True, slots=True)
class ChangeList:
    """What a site says has changed; `until` is the LAST_VISIT of the next question, None if this is no such list."""

    changes: tuple[ListedChange, ...]
    until: str | None
    next_url: str | None  # where the list goes on


def build_changelist_url(list_url: str, last_visit: str, min_priority: float | None = None) -> str:
    """Write the address to ask: LAST_VISIT is `until` of the last answer, or any time that was before it."""
    asked = {"LAST_VISIT": last_visit} | ({} if min_priority is None else {"threshold": f"{min_priority:g}"})
    return f"{list_url}{'&' if urlsplit(list_url).query else '?'}{urlencode(asked)}"


def parse_changelist(body: bytes, list_url: str) -> ChangeList:
    """Read an answer; only pages of the site that gave it are believed."""
    text = body[:MAX_LIST_BYTES].decode("utf-8", "replace")
    period = PERIOD_PATTERN.search(text[:20_000])
    about = _parse_attributes(period[0]) if period else {}
    entries = (piece.partition("</url>")[0] for piece in text.split("<url>")[1:])
    changes = tuple(change for entry in entries if (change := _parse_change(entry[:MAX_ENTRY_LENGTH], list_url)))
    following = _find_link(text[:20_000], "next", list_url)
    return ChangeList(changes, about.get("until"), following)


def _parse_attributes(tag: str) -> dict[str, str]:
    return {name: unescape(double or single) for name, double, single in ATTRIBUTE_PATTERN.findall(tag)}


def _find_link(head: str, relation: str, list_url: str) -> str | None:
    for tag in LINK_TAG_PATTERN.findall(head):
        found = _parse_attributes(tag)
        if found.get("rel") == relation and found.get("href"):
            return _resolve_same_site(found["href"], list_url)
    return None


def _resolve_same_site(url: str, list_url: str) -> str | None:
    """Keep an address only if it is on the site that names it."""
    try:
        whole, home = urlsplit(urljoin(list_url, url.strip())), urlsplit(list_url)
    except ValueError:
        return None
    return whole.geturl() if (whole.scheme, whole.netloc) == (home.scheme, home.netloc) else None


def _parse_change(entry: str, list_url: str) -> ListedChange | None:
    fields = {name: unescape(value) for name, value in FIELD_PATTERN.findall(entry)}
    url = _resolve_same_site(fields.get("loc", ""), list_url) if fields.get("loc") else None
    if url is None:
        return None
    mark = CHANGE_PATTERN.search(entry)
    return ListedChange(
        url, mark[1] if mark else "", _parse_priority(fields.get("priority", "")), parse_time(fields.get("lastmod", ""))
    )


def _parse_priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def find_changelist_in_header(link: str, page_url: str) -> str | None:
    """Find the list of changes a page's Link header names."""
    for match in LINK_HEADER_PATTERN.finditer(link[:20_000]):
        if re.search(r";\s*rel\s*=\s*\"?changes\"?\s*(?:;|$)", match[2]):
            return _resolve_same_site(match[1], page_url)
    return None


def find_changelist_in_document(body: bytes, document_url: str) -> str | None:
    """Find the list of changes that a sitemap or the well-known document names at its head."""
    return _find_link(body[:20_000].decode("utf-8", "replace"), "changes", document_url)
