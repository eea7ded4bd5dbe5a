"""Links between the shards of a set: which shard owns a URL, and the durable outbox and inbox of a shard.

    page with links to other shards -> `foreign_urls` (an id, and what was sent) -> `outbox` -> control database
                                                                                                      |
    URL filter, URL store <- one transaction with `inbox` (last batch applied per sender) <-----------+

A batch of one transaction is one row of the outbox per receiver. It is delivered at least once and applied once: the
receiver ignores batches up to the one in its `inbox`.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.db.id_range import IdRange, find_next_id
from sanderling.frontier.known_url import DEPTH_MASK, KnownUrl
from sanderling.models import Url, UrlRole, UrlSource
from sanderling.urls.normalize import get_host
from sanderling.urls.registrable_domain import get_registrable_domain

VIRTUAL_SHARDS = 256
QUERY_SIZE = 400
MAX_CACHED_HOSTS = 100_000
MAX_UNAPPLIED_BATCHES = 500  # in the outbox of a shard; above it, the shard fetches nothing until they are applied
RETENTION_SECONDS = 600.0  # applied batches are kept so long, because a power failure may undo the receiver's commit


class ForeignLink(Struct, frozen=True, array_like=True, gc=False):
    """A URL that a page of another shard refers to."""

    url: Url
    request_url: str = ""
    depth: int = 0
    source: UrlSource = UrlSource.LINK
    role: UrlRole = UrlRole.PAGE
    hops: int = 0
    nofollow: bool = False
    topic_score: float = 0.0
    priority: float = 0.5
    is_seed: bool = False
    link_count: int = 1  # links of the page
    relevance: float = 0.0  # of the page
    referrer: str = ""  # URL of the page
    widens_scope: bool = False  # redirect target of a seed; sent to all shards
    mass: float = 0.0  # of the link, if the ordering ranks by it
    is_known: bool = False  # sent before: only its mass is new

    @property
    def known_depth(self) -> int:
        """Return the depth below which the URL is sent again; nofollow links count as deepest."""
        return DEPTH_MASK if self.nofollow else min(self.depth, DEPTH_MASK)


class ShardIdentity(Struct, frozen=True):
    """Number and id range of a shard, and the owners of all virtual shards."""

    number: int
    id_range: IdRange
    owners: tuple[int, ...]

    def find_owner(self, url: str) -> int:
        """Return the shard that owns a URL. All hosts of a registrable domain have the same owner."""
        return self.owners[compute_virtual_shard(get_host(Url(url)))]

    def owns(self, url: str) -> bool:
        return self.find_owner(url) == self.number


def compute_virtual_shard(host: str) -> int:
    return zlib.crc32(get_registrable_domain(host).encode()) % VIRTUAL_SHARDS


class ShardLinks:
    """Records links to URLs of other shards, and sends them."""

    def __init__(self, db: Connection, identity: ShardIdentity) -> None:
        self.db = db
        self.identity = identity
        self._owners: dict[str, int] = {}  # by host
        self._decoder = msgspec.msgpack.Decoder(list[ForeignLink])

    @property
    def id_range(self) -> IdRange:
        return self.identity.id_range

    def is_foreign(self, url: str) -> bool:
        return self._find_owner(url) != self.identity.number

    def _find_owner(self, url: str) -> int:
        host = url[: url.index("/", 8)]
        owner = self._owners.get(host)
        if owner is None:
            if len(self._owners) >= MAX_CACHED_HOSTS:
                self._owners.clear()
            owner = self._owners[host] = self.identity.find_owner(url)
        return owner

    def find_next_id(self) -> int:
        """Return the next id for a URL, own or foreign."""
        return max(find_next_id(self.db, table, self.id_range) for table in ("urls", "foreign_urls"))

    def find_known(self, urls: Sequence[Url] | None = None) -> Iterator[tuple[Url, KnownUrl]]:
        """Yield the URLs of other shards that were sent before, among these URLs. None: all."""
        sql = "SELECT url, id, depth FROM foreign_urls"
        if urls is None:
            yield from ((Url(url), KnownUrl(id_, depth)) for url, id_, depth in self.db.execute(sql))
            return
        foreign = [url for url in urls if self.is_foreign(url)]
        for start in range(0, len(foreign), QUERY_SIZE):
            part = foreign[start : start + QUERY_SIZE]
            rows = self.db.execute(f"{sql} WHERE url IN ({','.join('?' * len(part))})", part)
            yield from ((Url(url), KnownUrl(id_, depth)) for url, id_, depth in rows)

    def record_sent(self, links: Iterable[ForeignLink], ids: Mapping[Url, int]) -> None:
        """Store ids and depths of URLs that are sent."""
        self.db.executemany(
            "INSERT INTO foreign_urls VALUES (?, ?, ?) ON CONFLICT (url) DO UPDATE SET depth = excluded.depth",
            [(ids[link.url], link.url, link.known_depth) for link in links],
        )

    def send(self, links: Iterable[ForeignLink], now: float) -> None:
        """Add links to the outbox, a batch per receiver. A link that widens the scope goes to every other shard."""
        batches: dict[int, list[ForeignLink]] = defaultdict(list)
        for link in links:
            receivers = set(self.identity.owners) if link.widens_scope else {self._find_owner(link.url)}
            for receiver in receivers - {self.identity.number}:
                batches[receiver].append(link)
        for receiver, batch in batches.items():
            payload = zlib.compress(msgspec.msgpack.encode(batch), 1)
            self.db.execute(
                "INSERT INTO outbox VALUES (?, (SELECT coalesce(max(sequence), 0) + 1 FROM outbox WHERE receiver = ?),"
                " ?, ?)",
                (receiver, receiver, now, payload),
            )

    def send_mass(self, masses: Mapping[int, float], now: float) -> None:
        """Send mass of URLs that other shards own; other URLs are ignored."""
        sql = "SELECT id, url FROM foreign_urls WHERE id IN ({})"
        rows = select_by_ids(self.db, sql, list(masses))
        self.send([ForeignLink(Url(url), mass=masses[id_], is_known=True) for id_, url in rows], now)

    def load_batches(self, receiver: int, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Return the next batches for a shard, as (sequence number, payload)."""
        sql = "SELECT sequence, payload FROM outbox WHERE receiver = ? AND sequence > ? ORDER BY sequence LIMIT ?"
        return [(sequence, payload) for sequence, payload in self.db.execute(sql, (receiver, after, limit))]

    def load_last_sequences(self) -> dict[int, int]:
        """Return the sequence number of the newest batch by receiver."""
        return dict(self.db.execute("SELECT receiver, max(sequence) FROM outbox GROUP BY receiver").fetchall())

    def prune_outbox(self, applied: Mapping[int, int], now: float) -> None:
        """Delete old applied batches, except the newest, which keeps the sequence number."""
        self.db.executemany(
            "DELETE FROM outbox WHERE receiver = ? AND sequence < ? AND at < ?",
            [(receiver, sequence, now - RETENTION_SECONDS) for receiver, sequence in applied.items()],
        )

    def load_applied(self) -> dict[int, int]:
        """Return the last batch applied by sender."""
        return dict(self.db.execute("SELECT sender, sequence FROM inbox").fetchall())

    def record_applied(self, sender: int, sequence: int) -> None:
        self.db.execute(
            "INSERT INTO inbox VALUES (?, ?) ON CONFLICT (sender) DO UPDATE SET sequence = excluded.sequence",
            (sender, sequence),
        )

    def decode_batch(self, payload: bytes) -> list[ForeignLink]:
        return self._decoder.decode(zlib.decompress(payload))
