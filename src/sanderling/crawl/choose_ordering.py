"""The ordering of one crawl: what was asked for now, what was asked for the last time, and what is remembered since."""

import json
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

MAX_REPLAYED_PAGES = 50_000  # stored pages an ordering learns from again after a crash, about a second
POPULARITY_BLOB = "popularity"  # the blob that keeps what access logs said
MAX_SAMPLE_CHARS = 1_000_000  # characters of --like-text that are read


class OrderingChoice(Struct, frozen=True):
    """What a person asked for; empty: as the last time."""

    name: str = ""
    topic: dict[str, float] = {}
    popularity: AccessCounts = AccessCounts()


def parse_ordering_choice(settings: OrderingSettings, is_new: bool = True) -> OrderingChoice:
    """Read the settings, or say in one sentence what cannot be; a collection that is not new may know its topic."""
    if settings.query and settings.like_text:
        raise UsageError("say what the crawl is about by --query or by --like-text, not by both")
    topic = Topic()
    if settings.query:
        topic = build_topic_from_query(settings.query)
    elif settings.like_text:
        topic = build_topic_from_text(_read_sample_text(settings.like_text), settings.like_text)
    name = settings.order or (DEFAULT_FOCUSED_ORDERING if topic else "")
    popularity = read_access_logs(map(Path, settings.access_log))
    if name:
        before = (
            OrderingInputs()
            if is_new
            else OrderingInputs(Topic({"as before": 1.0}), AccessCounts({"/": RequestCounts()}))
        )
        parse_ordering(
            name, OrderingInputs(topic or before.topic, popularity if popularity.counts else before.access_counts)
        )
    return OrderingChoice(name, topic.words, popularity)


def _read_sample_text(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_SAMPLE_CHARS)
    except OSError as error:
        raise UsageError(f"cannot read --like-text {path}: {error.strerror}") from None


def merge_stored_choice(db: Connection, choice: OrderingChoice) -> OrderingChoice:
    """What was not said now is as it was the last time."""
    topic = choice.topic or json.loads(get_meta(db, "topic", "{}"))
    popularity = choice.popularity
    if not popularity.counts and (
        row := db.execute("SELECT value FROM blobs WHERE name = ?", (POPULARITY_BLOB,)).fetchone()
    ):
        popularity = msgspec.msgpack.decode(row[0], type=AccessCounts)
    return OrderingChoice(choice.name or get_meta(db, "order", DEFAULT_ORDERING), topic, popularity)


def open_ordering(db: Connection, choice: OrderingChoice) -> Ordering:
    """The ordering, with all it remembers."""
    given = OrderingInputs(
        Topic(choice.topic),
        choice.popularity,
        lambda url: _load_path(db, url),
        lambda url: _load_sitemap_priority(db, url),
    )
    order = parse_ordering(choice.name, given)
    restore_ordering(db, choice.name, order)
    return order


def _load_path(db: Connection, url_id: int) -> str:
    row = db.execute("SELECT path FROM urls WHERE id = ?", (url_id,)).fetchone()
    return str(row[0]) if row else ""


def _load_sitemap_priority(db: Connection, url_id: int) -> float:
    row = db.execute("SELECT priority FROM hints WHERE url = ?", (url_id,)).fetchone()
    return float(row[0]) if row and row[0] >= 0 else DEFAULT_PRIORITY


def restore_ordering(db: Connection, name: str, ordering: Ordering) -> None:
    """Let an ordering remember: what was written down, and the pages stored since, as a crash leaves them."""
    until = load_ordering(db, name, ordering)
    rows = db.execute(
        "SELECT p.url, h.name || u.path, p.links, u.source, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'relevance'"
        " WHERE p.visit > ? AND u.role = 'page' ORDER BY p.visit DESC LIMIT ?",
        (until, MAX_REPLAYED_PAGES),
    ).fetchall()
    for id_, url, links, source, mark in reversed(rows):
        relevance = unpack_relevance(mark) if mark else 0.0
        targets = unpack_links(links).target_ids
        ordering.learn(CrawledPage(id_, Url(url), targets, is_seed=source == UrlSource.SEED, relevance=relevance))
    ordering.pop_rank_gains()


def rerank_if_ordering_changed(context: CrawlContext, choice: OrderingChoice) -> None:
    """When the ordering is another than the last time, what waits gets its place by the new one."""
    before = get_meta(context.db, "order"), get_meta(context.db, "topic", "{}")
    now = choice.name, json.dumps(choice.topic)
    set_meta(context.db, "order", now[0])
    set_meta(context.db, "topic", now[1])
    if choice.popularity.counts:
        context.db.execute(
            "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (POPULARITY_BLOB, msgspec.msgpack.encode(choice.popularity)),
        )
    if not before[0] or before == now:
        return
    rows = context.db.execute(
        "SELECT q.url, u.depth FROM queue AS q JOIN urls AS u ON u.id = q.url WHERE u.role = 'page'"
    ).fetchall()
    context.db.executemany(
        "UPDATE queue SET rank = ? WHERE url = ?",
        [(context.ordering.rank_known(url, depth), url) for url, depth in rows],
    )
