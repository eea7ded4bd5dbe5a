"""Choose the ordering of a crawl, and restore its learned state."""

from collections.abc import Callable
from functools import partial
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
from sanderling.frontier.url_rows import get_path
from sanderling.models import Url, UrlSource
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.link_graph import unpack_links
from sanderling.storage.queries import load_learnable_pages
from sanderling.storage.sitemap_hints import SitemapHintStore

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
    meta = CollectionMeta(db)
    topic = choice.topic or meta.topic
    popularity = choice.popularity
    if not popularity.counts and (
        row := db.execute("SELECT value FROM blobs WHERE name = ?", (POPULARITY_BLOB,)).fetchone()
    ):
        popularity = msgspec.msgpack.decode(row[0], type=AccessCounts)
    return OrderingChoice(choice.name or meta.ordering or DEFAULT_ORDERING, topic, popularity)


def open_ordering(db: Connection, choice: OrderingChoice) -> Ordering:
    """Build the chosen ordering and restore its learned state."""
    hints = SitemapHintStore(db)
    inputs = OrderingInputs(
        Topic(choice.topic),
        choice.popularity,
        partial(get_path, db),
        lambda url: _get_sitemap_priority(hints, url),
    )
    ordering = parse_ordering(choice.name, inputs)
    restore_ordering(db, choice.name, ordering)
    return ordering


def _get_sitemap_priority(hints: SitemapHintStore, url_id: int) -> float:
    hint = hints.load_hints([url_id]).get(url_id)
    return hint.priority if hint is not None and hint.priority >= 0 else DEFAULT_PRIORITY


def restore_ordering(db: Connection, name: str, ordering: Ordering) -> None:
    """Load saved score tables, then replay pages stored since."""
    last_visit = load_ordering(db, name, ordering)
    for page in load_learnable_pages(db, last_visit, MAX_REPLAYED_PAGES):
        ordering.learn(
            CrawledPage(
                page.url_id,
                Url(page.url),
                unpack_links(page.packed_links).target_ids,
                is_seed=page.source == UrlSource.SEED,
                relevance=unpack_relevance(page.packed_relevance) if page.packed_relevance else 0.0,
            )
        )
    ordering.pop_rank_gains()


def rerank_if_ordering_changed(context: CrawlContext, choice: OrderingChoice) -> None:
    """Store the choice, and rerank the queue if ordering or topic changed."""
    meta = CollectionMeta(context.db)
    stored, requested = (meta.ordering, meta.topic), (choice.name, choice.topic)
    meta.ordering, meta.topic = requested
    if choice.popularity.counts:
        context.db.execute(
            "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (POPULARITY_BLOB, msgspec.msgpack.encode(choice.popularity)),
        )
    if not stored[0] or stored == requested:
        return
    context.frontier.rerank(context.ordering.rank_known)
