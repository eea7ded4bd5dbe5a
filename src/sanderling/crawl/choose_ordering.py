"""Choose the ordering of a crawl, and restore its learned state."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.config.settings import OrderingSettings
from sanderling.crawl.context import CrawlContext
from sanderling.db.connection import Connection
from sanderling.errors import UsageError
from sanderling.frontier.ordering.access_logs import AccessCounts, RequestCounts, read_access_logs
from sanderling.frontier.ordering.ordering_registry import (
    DEFAULT_FOCUSED_ORDERING,
    DEFAULT_ORDERING,
    OrderingInputs,
    parse_ordering,
)
from sanderling.frontier.ordering.persistence import load_ordering
from sanderling.frontier.ordering.protocol import CrawledPage, Ordering
from sanderling.frontier.ordering.simple import DEFAULT_PRIORITY
from sanderling.frontier.ordering.topic import Topic, build_topic_from_query, build_topic_from_text, unpack_relevance
from sanderling.models import Url, UrlSource
from sanderling.storage.collection import get_meta, set_meta
from sanderling.storage.link_graph import unpack_links

MAX_REPLAYED_PAGES = 50_000  # after a crash; takes about a second
POPULARITY_BLOB = "popularity"  # blobs table: request counts from access logs
MAX_SAMPLE_CHARS = 1_000_000  # read from --like-text


class OrderingChoice(Struct, frozen=True):
    """The requested ordering. Empty fields: as in the last crawl."""

    name: str = ""
    topic: dict[str, float] = {}
    popularity: AccessCounts = AccessCounts()


OrderingBuilder = Callable[[Connection, OrderingChoice], Ordering]
"""Builds the ordering of a run from the stored or requested choice."""


def parse_ordering_choice(settings: OrderingSettings, is_new: bool = True) -> OrderingChoice:
    """Parse the ordering settings. Existing collections may already have a topic and access logs."""
    if settings.query and settings.like_text:
        raise UsageError("--query and --like-text both set the topic; give only one of them")
    topic = Topic()
    if settings.query:
        topic = build_topic_from_query(settings.query)
    elif settings.like_text:
        topic = build_topic_from_text(_read_sample_text(settings.like_text), settings.like_text)
    name = settings.order or (DEFAULT_FOCUSED_ORDERING if topic else "")
    popularity = read_access_logs(map(Path, settings.access_log))
    if name:
        stored = (
            OrderingInputs()
            if is_new
            else OrderingInputs(Topic({"as before": 1.0}), AccessCounts({"/": RequestCounts()}))
        )
        parse_ordering(
            name, OrderingInputs(topic or stored.topic, popularity if popularity.counts else stored.access_counts)
        )
    return OrderingChoice(name, topic.words, popularity)


def _read_sample_text(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_SAMPLE_CHARS)
    except OSError as error:
        raise UsageError(f"cannot read --like-text {path}: {error.strerror}") from None


def merge_stored_choice(db: Connection, choice: OrderingChoice) -> OrderingChoice:
    """Fill empty fields from the last crawl."""
    topic = choice.topic or json.loads(get_meta(db, "topic", "{}"))
    popularity = choice.popularity
    if not popularity.counts and (
        row := db.execute("SELECT value FROM blobs WHERE name = ?", (POPULARITY_BLOB,)).fetchone()
    ):
        popularity = msgspec.msgpack.decode(row[0], type=AccessCounts)
    return OrderingChoice(choice.name or get_meta(db, "order", DEFAULT_ORDERING), topic, popularity)


def open_ordering(db: Connection, choice: OrderingChoice) -> Ordering:
    """Build the chosen ordering and restore its learned state."""
    inputs = OrderingInputs(
        Topic(choice.topic),
        choice.popularity,
        lambda url: _load_path(db, url),
        lambda url: _load_sitemap_priority(db, url),
    )
    ordering = parse_ordering(choice.name, inputs)
    restore_ordering(db, choice.name, ordering)
    return ordering


def _load_path(db: Connection, url_id: int) -> str:
    row = db.execute("SELECT path FROM urls WHERE id = ?", (url_id,)).fetchone()
    return str(row[0]) if row else ""


def _load_sitemap_priority(db: Connection, url_id: int) -> float:
    row = db.execute("SELECT priority FROM hints WHERE url = ?", (url_id,)).fetchone()
    return float(row[0]) if row and row[0] >= 0 else DEFAULT_PRIORITY


def restore_ordering(db: Connection, name: str, ordering: Ordering) -> None:
    """Load saved score tables, then replay pages stored since."""
    last_visit = load_ordering(db, name, ordering)
    rows = db.execute(
        "SELECT p.url, h.name || u.path, p.links, u.source, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'relevance'"
        " WHERE p.visit > ? AND u.role = 'page' ORDER BY p.visit DESC LIMIT ?",
        (last_visit, MAX_REPLAYED_PAGES),
    ).fetchall()
    for id_, url, links, source, packed_relevance in reversed(rows):
        relevance = unpack_relevance(packed_relevance) if packed_relevance else 0.0
        targets = unpack_links(links).target_ids
        ordering.learn(CrawledPage(id_, Url(url), targets, is_seed=source == UrlSource.SEED, relevance=relevance))
    ordering.pop_rank_gains()


def rerank_if_ordering_changed(context: CrawlContext, choice: OrderingChoice) -> None:
    """Store the choice, and rerank the queue if ordering or topic changed."""
    stored = get_meta(context.db, "order"), get_meta(context.db, "topic", "{}")
    requested = choice.name, json.dumps(choice.topic)
    set_meta(context.db, "order", requested[0])
    set_meta(context.db, "topic", requested[1])
    if choice.popularity.counts:
        context.db.execute(
            "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (POPULARITY_BLOB, msgspec.msgpack.encode(choice.popularity)),
        )
    if not stored[0] or stored == requested:
        return
    rows = context.db.execute(
        "SELECT q.url, u.depth FROM queue AS q JOIN urls AS u ON u.id = q.url WHERE u.role = 'page'"
    ).fetchall()
    context.db.executemany(
        "UPDATE queue SET rank = ? WHERE url = ?",
        [(context.ordering.rank_known(url, depth), url) for url, depth in rows],
    )
