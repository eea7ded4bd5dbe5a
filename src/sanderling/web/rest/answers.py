"""Answers of the HTTP API. Times are ISO 8601 in UTC; null: unknown, or never."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from sanderling.api.page_links import PageLink
from sanderling.web.rest.crawl_jobs import JobKind, JobState

Time = Annotated[datetime, Meta(tz=True)]


class PageEntry(Struct, frozen=True):
    url: str
    title: str
    status: int
    mime: str
    language: str
    depth: int
    first_seen: Time | None
    last_visit: Time | None
    last_change: Time | None
    changes: int
    digest: str
    duplicate_of: str
    location: str


class PageList(Struct, frozen=True):
    """Stored pages. `next`: the value of `after` for the next part; empty at the end."""

    pages: list[PageEntry]
    next: str


class ContentAnswer(Struct, frozen=True):
    """Content of a version. `untrusted_text` and `data` were written by the owners and users of the site."""

    url: str
    title: str
    status: int
    mime: str
    fetched_at: Time | None
    digest: str
    format: str
    untrusted_text: str
    data: dict[str, Any]


class VersionEntry(Struct, frozen=True):
    number: int
    fetched_at: Time | None
    digest: str


class VisitEntry(Struct, frozen=True):
    at: Time | None
    outcome: str
    reason: str
    status: int
    changed: bool
    kinds: list[str]
    significance: float
    bytes: int
    received_bytes: int
    seconds: float


class LinksAnswer(Struct, frozen=True):
    """Links of a page in order of appearance, and the pages that link to it."""

    url: str
    outgoing: list[PageLink]
    incoming: list[str]


class ChangeEntry(Struct, frozen=True):
    url: str
    title: str
    seen_at: Time | None
    previous_at: Time | None
    kinds: list[str]
    significance: float
    summary: str


class ChangeListAnswer(Struct, frozen=True):
    """Changes, newest first. `total`: before `limit` and `offset`."""

    total: int
    changes: list[ChangeEntry]


class DiffAnswer(Struct, frozen=True):
    """Words that differ between two versions."""

    url: str
    old: VersionEntry
    new: VersionEntry
    kinds: list[str]
    format: str
    untrusted_text: str


class FieldScore(Struct, frozen=True):
    word: str
    field: str
    score: float


class Hit(Struct, frozen=True):
    """A search result. The HTML is escaped text with <mark>."""

    position: int
    url: str
    title: str
    title_html: str
    snippet_html: str
    site: str
    type: str
    language: str
    changed_at: Time | None
    first_seen: Time | None
    visited_at: Time | None
    score: float
    parts: dict[str, float]
    fields: list[FieldScore]


class SearchAnswer(Struct, frozen=True):
    """`corrected_query`: after spelling correction; empty: as typed. `query_id`: for reports of user behavior."""

    query: str
    query_id: str
    total: int
    corrected_query: str
    relaxed: bool
    hits: list[Hit]
    facets: dict[str, dict[str, int]]


class StatusAnswer(Struct, frozen=True):
    """State of the collection, and of the crawl that runs in it."""

    at: Time | None
    running: bool
    paused: bool
    complete: bool
    session: int
    finish_reason: str
    seeds: list[str]
    pages: int
    urls: dict[str, int]
    waiting: int
    in_flight: int
    visits: int
    pages_per_second: float
    bytes_per_second: float
    bytes_stored: int
    bytes_archived: int
    bytes_downloaded: int
    bytes_saved: int
    changed_today: int
    fresh_ratio: float
    indexed_pages: int
    index_lag: int


class HostEntry(Struct, frozen=True):
    name: str
    pages: int
    waiting: int
    leased: int
    ready_at: Time | None
    delay_reason: str
    failures: int
    give_up_reason: str
    robots_status: int


class DueEntry(Struct, frozen=True):
    url: str
    reason: str
    due_at: Time | None
    depth: int
    visited: bool


class UnmetQueryEntry(Struct, frozen=True):
    query: str
    state: str
    created_at: Time | None
    answered_at: Time | None
    results: int
    new_pages: int


class EventCountEntry(Struct, frozen=True):
    key: str
    events: int
    clients: int
    dwell_seconds: float


class CrawlProgressEntry(Struct, frozen=True):
    """Counters of the collection while a job runs."""

    pages: int
    waiting: int
    in_flight: int
    visits: int
    pages_per_second: float
    bytes_per_second: float


class CrawlAnswer(Struct, frozen=True):
    """A crawl job. `summary` has the keys of the `--json` output of its command; empty while it runs."""

    id: int
    kind: JobKind
    state: JobState
    urls: list[str]
    settings: dict[str, Any]
    started_by: str
    started_at: Time | None
    ended_at: Time | None
    finish_reason: str
    summary: dict[str, Any]
    error: str


class WatchEntry(Struct, frozen=True):
    """A watch. `definition` has the keys of a `[[watch]]` table; times in it are in seconds."""

    id: int
    name: str
    paused: bool
    definition: dict[str, Any]
    events: int
    last_event_at: Time | None


class WatchChange(Struct, frozen=True):
    url: str
    title: str
    seen_at: Time | None
    kinds: list[str]
    significance: float
    summary: str
