"""The ordering of one crawl: what was asked for now, what was asked for the last time, and what is remembered since."""

import json
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.config.settings import Order
from sanderling.crawl.context import House
from sanderling.db.connection import Connection
from sanderling.errors import UsageError
from sanderling.frontier.ordering.access_logs import Counts, Popularity, read_logs
from sanderling.frontier.ordering.ordering_registry import DEFAULT, FOCUSED, Given, choose
from sanderling.frontier.ordering.persistence import load
from sanderling.frontier.ordering.protocol import Lesson, Ordering
from sanderling.frontier.ordering.simple import UNSAID
from sanderling.frontier.ordering.topic import Topic, topic_of_query, topic_of_text, unpack_relevance
from sanderling.models import Source, Url
from sanderling.storage.collection import get_meta, set_meta
from sanderling.storage.link_graph import unpack_links

RECALLED = 50_000  # stored pages an ordering learns from again after a crash, about a second
LOGS = "popularity"  # the blob that keeps what access logs said
LONGEST_TEXT = 1_000_000  # characters of --like-text that are read


class Wish(Struct, frozen=True):
    """What a person asked for; empty: as the last time."""

    name: str = ""
    topic: dict[str, float] = {}
    popularity: Popularity = Popularity()


def read_wish(order: Order, is_new: bool = True) -> Wish:
    """Read the settings, or say in one sentence what cannot be; a collection that is not new may know its topic."""
    if order.query and order.like_text:
        raise UsageError("say what the crawl is about by --query or by --like-text, not by both")
    topic = Topic()
    if order.query:
        topic = topic_of_query(order.query)
    elif order.like_text:
        topic = topic_of_text(_read(order.like_text), order.like_text)
    name = order.order or (FOCUSED if topic else "")
    popularity = read_logs(map(Path, order.access_log))
    if name:
        before = Given() if is_new else Given(Topic({"as before": 1.0}), Popularity({"/": Counts()}))
        choose(name, Given(topic or before.topic, popularity if popularity.counts else before.popularity))
    return Wish(name, topic.words, popularity)


def _read(name: str) -> str:
    try:
        with Path(name).open(encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST_TEXT)
    except OSError as error:
        raise UsageError(f"cannot read --like-text {name}: {error.strerror}") from None


def remembered(db: Connection, wish: Wish) -> Wish:
    """What was not said now is as it was the last time."""
    topic = wish.topic or json.loads(get_meta(db, "topic", "{}"))
    popularity = wish.popularity
    if not popularity.counts and (row := db.execute("SELECT value FROM blobs WHERE name = ?", (LOGS,)).fetchone()):
        popularity = msgspec.msgpack.decode(row[0], type=Popularity)
    return Wish(wish.name or get_meta(db, "order", DEFAULT), topic, popularity)


def open_order(db: Connection, wish: Wish) -> Ordering:
    """The ordering, with all it remembers."""
    given = Given(Topic(wish.topic), wish.popularity, lambda url: _path(db, url), lambda url: _priority(db, url))
    order = choose(wish.name, given)
    recall(db, wish.name, order)
    return order


def _path(db: Connection, url: int) -> str:
    row = db.execute("SELECT path FROM urls WHERE id = ?", (url,)).fetchone()
    return str(row[0]) if row else ""


def _priority(db: Connection, url: int) -> float:
    row = db.execute("SELECT priority FROM hints WHERE url = ?", (url,)).fetchone()
    return float(row[0]) if row and row[0] >= 0 else UNSAID


def recall(db: Connection, name: str, order: Ordering) -> None:
    """Let an ordering remember: what was written down, and the pages stored since, as a crash leaves them."""
    until = load(db, name, order)
    rows = db.execute(
        "SELECT p.url, h.name || u.path, p.links, u.source, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'relevance'"
        " WHERE p.visit > ? AND u.role = 'page' ORDER BY p.visit DESC LIMIT ?",
        (until, RECALLED),
    ).fetchall()
    for id_, url, links, source, mark in reversed(rows):
        relevance = unpack_relevance(mark) if mark else 0.0
        targets = unpack_links(links).targets
        order.learn(Lesson(id_, Url(url), targets, is_seed=source == Source.SEED, relevance=relevance))
    order.gains()


def order_again(house: House, wish: Wish) -> None:
    """When the ordering is another than the last time, what waits gets its place by the new one."""
    before = get_meta(house.db, "order"), get_meta(house.db, "topic", "{}")
    now = wish.name, json.dumps(wish.topic)
    set_meta(house.db, "order", now[0])
    set_meta(house.db, "topic", now[1])
    if wish.popularity.counts:
        house.db.execute(
            "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (LOGS, msgspec.msgpack.encode(wish.popularity)),
        )
    if not before[0] or before == now:
        return
    rows = house.db.execute(
        "SELECT q.url, u.depth FROM queue AS q JOIN urls AS u ON u.id = q.url WHERE u.role = 'page'"
    ).fetchall()
    house.db.executemany(
        "UPDATE queue SET rank = ? WHERE url = ?", [(house.order.again(url, depth), url) for url, depth in rows]
    )
