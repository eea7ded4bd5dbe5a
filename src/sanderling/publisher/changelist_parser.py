"""Find, request, and parse the change list of a site (crawler side). The caller fetches.

The list is sitemap XML with ResourceSync elements, scanned with bounded patterns because it may be truncated or
hostile.
"""

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlencode, urljoin, urlsplit

from sanderling.publisher.http_dates import parse_time

MAX_LIST_BYTES = 64 << 20  # read at most
MAX_ENTRY_LENGTH = 20_000  # per entry
FIELD_PATTERN = re.compile(r"<(loc|lastmod|priority)>([^<]{0,8000})</\1>")
CHANGE_PATTERN = re.compile(r"<rs:md\s[^<>]{0,500}?\bchange\s*=\s*[\"'](created|updated|deleted)[\"']")
PERIOD_PATTERN = re.compile(r"<rs:md\s[^<>]{0,500}?\bcapability\s*=\s*[\"']changelist[\"'][^<>]{0,500}+>")
LINK_TAG_PATTERN = re.compile(r"<rs:ln\s[^<>]{0,9000}+>")
ATTRIBUTE_PATTERN = re.compile(r"\b(rel|href|from|until)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
LINK_HEADER_PATTERN = re.compile(r"<([^<>]{1,8000})>\s*((?:;[^,<>]{0,500})*)")


@dataclass(frozen=True, slots=True)
class ListedChange:
    url: str
    change_type: str  # created, updated, or deleted; empty: unknown
    priority: float | None
    modified_ms: int | None


@dataclass(frozen=True, slots=True)
class ChangeList:
    """`until`: the LAST_VISIT of the next request. None: not a change list."""

    changes: tuple[ListedChange, ...]
    until: str | None
    next_url: str | None  # next page of the list


def build_changelist_url(list_url: str, last_visit: str, min_priority: float | None = None) -> str:
    """Build the URL. LAST_VISIT is `until` of the last response, or an earlier time."""
    parameters = {"LAST_VISIT": last_visit} | ({} if min_priority is None else {"threshold": f"{min_priority:g}"})
    return f"{list_url}{'&' if urlsplit(list_url).query else '?'}{urlencode(parameters)}"


def parse_changelist(body: bytes, list_url: str) -> ChangeList:
    """Parse a change list. Pages of other sites are ignored."""
    text = body[:MAX_LIST_BYTES].decode("utf-8", "replace")
    period = PERIOD_PATTERN.search(text[:20_000])
    attributes = _parse_attributes(period[0]) if period else {}
    entries = (part.partition("</url>")[0] for part in text.split("<url>")[1:])
    changes = tuple(change for entry in entries if (change := _parse_change(entry[:MAX_ENTRY_LENGTH], list_url)))
    next_url = _find_link(text[:20_000], "next", list_url)
    return ChangeList(changes, attributes.get("until"), next_url)


def _parse_attributes(tag: str) -> dict[str, str]:
    return {name: unescape(double or single) for name, double, single in ATTRIBUTE_PATTERN.findall(tag)}


def _find_link(head: str, relation: str, list_url: str) -> str | None:
    for tag in LINK_TAG_PATTERN.findall(head):
        attributes = _parse_attributes(tag)
        if attributes.get("rel") == relation and attributes.get("href"):
            return _resolve_same_site(attributes["href"], list_url)
    return None


def _resolve_same_site(url: str, list_url: str) -> str | None:
    """Resolve a URL and reject other sites."""
    try:
        resolved, base = urlsplit(urljoin(list_url, url.strip())), urlsplit(list_url)
    except ValueError:
        return None
    return resolved.geturl() if (resolved.scheme, resolved.netloc) == (base.scheme, base.netloc) else None


def _parse_change(entry: str, list_url: str) -> ListedChange | None:
    fields = {name: unescape(value) for name, value in FIELD_PATTERN.findall(entry)}
    url = _resolve_same_site(fields.get("loc", ""), list_url) if fields.get("loc") else None
    if url is None:
        return None
    change = CHANGE_PATTERN.search(entry)
    return ListedChange(
        url,
        change[1] if change else "",
        _parse_priority(fields.get("priority", "")),
        parse_time(fields.get("lastmod", "")),
    )


def _parse_priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def find_changelist_in_header(link: str, page_url: str) -> str | None:
    for match in LINK_HEADER_PATTERN.finditer(link[:20_000]):
        if re.search(r";\s*rel\s*=\s*\"?changes\"?\s*(?:;|$)", match[2]):
            return _resolve_same_site(match[1], page_url)
    return None


def find_changelist_in_document(body: bytes, document_url: str) -> str | None:
    """Find the change list in the head of a sitemap or the well-known document."""
    return _find_link(body[:20_000].decode("utf-8", "replace"), "changes", document_url)
