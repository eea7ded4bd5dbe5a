"""The crawler's half: find a site's list of changes, ask for it, read it. Pure functions; the caller fetches.

A list is sitemap XML with ResourceSync marks. It is scanned, not parsed: what comes from the web may be cut, huge or
hostile, and a scan of bounded bytes always ends.
"""

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlencode, urljoin, urlsplit

from sanderling.publisher.http_dates import read_time

LARGEST = 64 << 20  # bytes of a list that are looked at
LONGEST = 20_000  # characters of one entry
FIELD = re.compile(r"<(loc|lastmod|priority)>([^<]{0,8000})</\1>")
CHANGE = re.compile(r"<rs:md\s[^<>]{0,500}?\bchange\s*=\s*[\"'](created|updated|deleted)[\"']")
PERIOD = re.compile(r"<rs:md\s[^<>]{0,500}?\bcapability\s*=\s*[\"']changelist[\"'][^<>]{0,500}+>")
LN = re.compile(r"<rs:ln\s[^<>]{0,9000}+>")
ATTRIBUTE = re.compile(r"\b(rel|href|from|until)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
LINK = re.compile(r"<([^<>]{1,8000})>\s*((?:;[^,<>]{0,500})*)")


@dataclass(frozen=True, slots=True)
class Change:
    """One page of a list."""

    url: str
    change: str  # created, updated, deleted; empty if the list does not say
    priority: float | None  # None: not given
    modified: int | None  # milliseconds


@dataclass(frozen=True, slots=True)
class ChangeList:
    """What a site says has changed; `until` is the LAST_VISIT of the next question, None if this is no such list."""

    changes: tuple[Change, ...]
    until: str | None
    next: str | None  # where the list goes on


def question(address: str, last_visit: str, threshold: float | None = None) -> str:
    """Write the address to ask: LAST_VISIT is `until` of the last answer, or any time that was before it."""
    asked = {"LAST_VISIT": last_visit} | ({} if threshold is None else {"threshold": f"{threshold:g}"})
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(asked)}"


def read_list(body: bytes, address: str) -> ChangeList:
    """Read an answer; only pages of the site that gave it are believed."""
    text = body[:LARGEST].decode("utf-8", "replace")
    period = PERIOD.search(text[:20_000])
    about = _attributes(period[0]) if period else {}
    entries = (piece.partition("</url>")[0] for piece in text.split("<url>")[1:])
    changes = tuple(change for entry in entries if (change := _change(entry[:LONGEST], address)))
    following = _linked(text[:20_000], "next", address)
    return ChangeList(changes, about.get("until"), following)


def _attributes(tag: str) -> dict[str, str]:
    return {name: unescape(double or single) for name, double, single in ATTRIBUTE.findall(tag)}


def _linked(head: str, relation: str, address: str) -> str | None:
    for tag in LN.findall(head):
        found = _attributes(tag)
        if found.get("rel") == relation and found.get("href"):
            return _own(found["href"], address)
    return None


def _own(url: str, address: str) -> str | None:
    """Keep an address only if it is on the site that names it."""
    try:
        whole, home = urlsplit(urljoin(address, url.strip())), urlsplit(address)
    except ValueError:
        return None
    return whole.geturl() if (whole.scheme, whole.netloc) == (home.scheme, home.netloc) else None


def _change(entry: str, address: str) -> Change | None:
    fields = {name: unescape(value) for name, value in FIELD.findall(entry)}
    url = _own(fields.get("loc", ""), address) if fields.get("loc") else None
    if url is None:
        return None
    mark = CHANGE.search(entry)
    return Change(
        url, mark[1] if mark else "", _priority(fields.get("priority", "")), read_time(fields.get("lastmod", ""))
    )


def _priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def named_by_header(link: str, address: str) -> str | None:
    """Find the list of changes a page's Link header names."""
    for match in LINK.finditer(link[:20_000]):
        if re.search(r";\s*rel\s*=\s*\"?changes\"?\s*(?:;|$)", match[2]):
            return _own(match[1], address)
    return None


def named_by_document(body: bytes, address: str) -> str | None:
    """Find the list of changes that a sitemap or the well-known document names at its head."""
    return _linked(body[:20_000].decode("utf-8", "replace"), "changes", address)
