"""URL store: a row per known URL with id, state and smallest depth.

Most links of a page are known already. Lookups go through three layers:

    URL cache (frequent URLs, by Python's 64-bit hash) -> seen filter (most others; proves new ones) -> database

The database is queried once per batch. URLs of earlier runs are loaded into the seen filter step by step; until that is
done the filter cannot prove that a URL is new.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.db.id_range import ALL_IDS, find_next_id
from sanderling.frontier.known_url import DEPTH_MASK, KnownUrl, pack_known_url, unpack_known_url
from sanderling.frontier.seen_filter import SeenFilter
from sanderling.frontier.shard_links import ShardLinks
from sanderling.frontier.url_cache import OCCURRENCE_UNIT, VALUE_MASK, UrlCache
from sanderling.models import CandidateUrl, Host, Reason, Url, UrlRole, UrlSource, UrlState
from sanderling.runtime.memory import use_huge_pages

MAX_CACHED_HOSTS = 200_000
CHUNK_ROWS = 400  # rows per statement
STATEMENT_SIZES = (1, 8, 32, 128, CHUNK_ROWS)  # few sizes, so that each statement is prepared once
LOAD_ROWS = 2_000  # of earlier runs, loaded into the seen filter per lookup
GROWTH_THRESHOLD = 150_000  # URLs in the seen filter before huge pages are requested; doubled each time
QUEUED, LINK, PAGE = UrlState.QUEUED, UrlSource.LINK, UrlRole.PAGE
# Reasons that another link to the same URL may lift.
SOFT_REASONS = frozenset({Reason.DEPTH, Reason.NOFOLLOW, Reason.FOREIGN_SITEMAP, Reason.IRRELEVANT, Reason.LIMIT})

SELECT_KNOWN_URLS = (  # a join: SQLite scans the whole table for (host, path) IN (VALUES ...)
    "WITH requested (host, path) AS (VALUES {}) SELECT u.host, u.path, u.id, u.depth, u.state, u.reason"
    " FROM requested AS r JOIN urls AS u ON u.host = r.host AND u.path = r.path"
)
INSERT_URL = (
    "INSERT INTO urls (id, host, path, depth, via, found_at, request_url, state, reason, source, hops, note, role)"
    " VALUES"
    " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_LINK = (  # nearly all new URLs: a plain link to be crawled
    "INSERT INTO urls (id, host, path, depth, via, found_at, request_url, state, reason, source, hops, note, role)"
    " VALUES"
    f" (?, ?, ?, ?, ?, ?, '', '{QUEUED}', '', '{LINK}', 0, '', '{PAGE}')"
)


class FrontierEntry(Struct, frozen=True, gc=False):
    """A new URL with the decision of the URL filter."""

    candidate: CandidateUrl
    state: UrlState
    reason: Reason = Reason.NONE
    detail: str = ""


def _build_row(id_: int, host_id: int, path: str, entry: FrontierEntry, now: float) -> tuple[object, ...]:
    """Return all columns of a new URL; enums as plain strings, since SQLite adapts subclasses slowly."""
    candidate = entry.candidate
    origin = str(candidate.source), candidate.hops, entry.detail, str(candidate.role)
    return (
        id_,
        host_id,
        path,
        candidate.depth,
        candidate.referrer_id,
        now,
        candidate.request_url,
        str(entry.state),
        str(entry.reason),
        *origin,
    )


class UrlStore:
    """Looks up known URLs and inserts new URLs."""

    def __init__(
        self,
        db: Connection,
        url_cache: UrlCache | None = None,
        seen_filter: SeenFilter | None = None,
        shard_links: ShardLinks | None = None,
    ) -> None:
        self.db = db
        self.shard_links = shard_links  # None: not a shard of a set
        (max_id,) = db.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()
        self.next_id = shard_links.find_next_id() if shard_links else max_id + 1
        self.host_ids: dict[Host, int] = {}
        self.url_cache = url_cache or UrlCache()
        self.seen_filter = seen_filter or SeenFilter()
        self.loaded_until = 0  # ids up to this one are in the seen filter
        self.load_end = max_id  # as are all that are assigned in this run
        self.next_growth = GROWTH_THRESHOLD
        for url, known in shard_links.find_known() if shard_links else ():
            self.cache_known_url(url, known)

    def get(self, urls: Iterable[Url]) -> dict[Url, KnownUrl]:
        """Return the known URLs among these; the rest is new."""
        return {url: unpack_known_url(packed) for url, packed in self.get_packed(urls).items()}

    def get_packed(self, urls: Iterable[Url]) -> dict[Url, int]:
        """Like `get`, with packed values; used for every link of a crawl."""
        found: dict[Url, int] = {}
        missing: list[Url] = []
        values = self.url_cache.values
        for url in urls:
            key = hash(url)
            value = values.pop(key, None)
            if value is None:
                missing.append(url)
            else:
                values[key] = value + OCCURRENCE_UNIT
                found[url] = value & VALUE_MASK
        self.url_cache.lookups += len(found) + len(missing)
        self.url_cache.hits += len(found) + len(missing)
        if missing:
            unsure = self._query_seen_filter(missing, found)
            self.url_cache.hits -= len(unsure)  # the others needed no database lookup
            self._query_database(unsure, found)
        return found

    def _query_seen_filter(self, missing: Sequence[Url], found: dict[Url, int]) -> Sequence[Url]:
        """Add values from the seen filter to `found`; return the URLs only the database can decide."""
        if self.loaded_until < self.load_end:
            self._load_earlier_urls()
        repeated, unsure = self.seen_filter.lookup(missing, found)
        for url in repeated:
            self.url_cache.put(hash(url), found[url])
        if self.loaded_until < self.load_end:
            return [url for url in missing if url not in found]
        return unsure

    def _load_earlier_urls(self) -> None:
        """Load the next `LOAD_ROWS` URLs of earlier runs into the seen filter."""
        rows = self.db.execute(
            "SELECT u.id, h.name || u.path, u.depth, u.state, u.reason FROM urls AS u JOIN hosts AS h ON h.id = u.host"
            " WHERE u.id > ? ORDER BY u.id LIMIT ?",
            (self.loaded_until, LOAD_ROWS),
        ).fetchall()
        for id_, url, depth, state, reason in rows:
            self.cache_known_url(Url(url), KnownUrl(id_, depth, state == UrlState.SKIPPED and reason in SOFT_REASONS))
        self.loaded_until = rows[-1][0]

    def _query_database(self, unsure: Sequence[Url], found: dict[Url, int]) -> None:
        """Look up URLs of any hosts in the database, `CHUNK_ROWS` per statement."""
        if self.shard_links is not None:
            unsure = self._query_foreign_urls(self.shard_links, unsure, found)
        url_by_key: dict[tuple[int, str], Url] = {}
        for url in unsure:
            slash = url.index("/", 8)
            if host := self.get_host_id(Host(url[:slash])):
                url_by_key[host, url[slash:]] = url
        keys = list(url_by_key)
        for start in range(0, len(keys), CHUNK_ROWS):
            chunk = keys[start : start + CHUNK_ROWS]
            chunk += chunk[-1:] * (next(size for size in STATEMENT_SIZES if size >= len(chunk)) - len(chunk))
            placeholders = ",".join(["(?, ?)"] * len(chunk))
            for host, path, id_, depth, state, reason in self.db.execute(
                SELECT_KNOWN_URLS.format(placeholders), list(chain(*chunk))
            ):
                known = KnownUrl(id_, depth, state == UrlState.SKIPPED and reason in SOFT_REASONS)
                url = url_by_key[host, path]
                found[url] = pack_known_url(known)
                self.cache_known_url(url, known)

    def _query_foreign_urls(self, shard_links: ShardLinks, unsure: Sequence[Url], found: dict[Url, int]) -> list[Url]:
        """Look up the URLs of other shards; return the URLs of this shard."""
        for url, known in shard_links.find_known(unsure):
            found[url] = pack_known_url(known)
            self.cache_known_url(url, known)
        return [url for url in unsure if not shard_links.is_foreign(url)]

    def allocate_foreign_ids(self, depths: Mapping[Url, int]) -> dict[Url, int]:
        """Assign ids to URLs of other shards, which are known from now on with these depths."""
        ids = dict(zip(depths, range(self.next_id, self.next_id + len(depths)), strict=True))
        self.next_id += len(ids)
        for url, id_ in ids.items():
            self.cache_known_url(url, KnownUrl(id_, depths[url]))
        return ids

    def cache_known_url(self, url: Url, known: KnownUrl) -> None:
        """Store a known URL in the seen filter, and in the URL cache if it is there already."""
        key = hash(url)
        if known.is_soft_skip:
            self.seen_filter.mark_seen(key)  # the database decides each time whether the reason still holds
            return
        packed = pack_known_url(known)
        self.seen_filter.put(key, packed)
        if key in self.url_cache.values:
            self.url_cache.put(key, packed)

    def get_host_id(self, host: Host) -> int:
        """Return the id of a host, or 0 if it is new."""
        known = self.host_ids.get(host)
        if known is None:
            row = self.db.execute("SELECT id FROM hosts WHERE name = ?", (host,)).fetchone()
            if row is None:
                return 0
            if len(self.host_ids) >= MAX_CACHED_HOSTS:
                self.host_ids.clear()
            known = self.host_ids[host] = row[0]
        return known

    def _ensure_host_id(self, host: Host) -> int:
        known = self.get_host_id(host)
        if not known:
            id_range = self.shard_links.id_range if self.shard_links else ALL_IDS
            known = self.host_ids[host] = find_next_id(self.db, "hosts", id_range)
            self.db.execute("INSERT INTO hosts (id, name) VALUES (?, ?)", (known, host))
        return known

    def insert_and_enqueue(self, entries: Sequence[FrontierEntry], now: float) -> dict[Url, int]:
        """Insert new URLs and enqueue those in state QUEUED; return their ids."""
        ids: dict[Url, int] = {}
        links, others, queued, waiting = [], [], [], dict[int, int]()
        hosts, seen_filter = self.host_ids, self.seen_filter
        for id_, entry in enumerate(entries, self.next_id):
            candidate, reason = entry.candidate, entry.reason
            url, depth = candidate.url, candidate.depth
            slash = url.index("/", 8)
            host = hosts.get(name := Host(url[:slash])) or self._ensure_host_id(name)
            ids[url] = id_
            is_queued = entry.state is QUEUED
            if (
                is_queued
                and candidate.source is LINK
                and candidate.role is PAGE
                and not (candidate.request_url or candidate.hops or entry.detail)
            ):
                links.append((id_, host, url[slash:], depth, candidate.referrer_id, now))
            else:
                others.append(_build_row(id_, host, url[slash:], entry, now))
            if is_queued:
                queued.append((host, candidate.rank, id_))
                waiting[host] = waiting.get(host, 0) + 1
            if reason and reason in SOFT_REASONS:
                seen_filter.mark_seen(hash(url))
            else:
                seen_filter.put(hash(url), id_ << 8 | (depth if depth < DEPTH_MASK else DEPTH_MASK))
        self.next_id += len(entries)
        if seen_filter.put_count > self.next_growth:
            self.next_growth = 2 * seen_filter.put_count
            use_huge_pages()
        self.db.executemany(INSERT_LINK, links)
        self.db.executemany(INSERT_URL, others)
        self.db.executemany("INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", queued)
        self.db.executemany(
            "UPDATE hosts SET waiting = waiting + ? WHERE id = ?", [(count, host) for host, count in waiting.items()]
        )
        return ids

    def lower_depth(self, id_: int, candidate: CandidateUrl) -> bool:
        """Store a smaller depth of a known URL; return True if the depths of its links must be updated."""
        row = self.db.execute(
            "UPDATE urls SET depth = ?, via = ? WHERE id = ? AND depth > ? RETURNING state",
            (candidate.depth, candidate.referrer_id, id_, candidate.depth),
        ).fetchone()
        self.cache_known_url(candidate.url, KnownUrl(id_, candidate.depth))
        return row is not None and row[0] == UrlState.VISITED

    def find_deeper(self, depth: int, ids: Sequence[int]) -> list[Url]:
        """Return those of these URLs whose depth is larger than `depth`."""
        found = []
        for start in range(0, len(ids), CHUNK_ROWS):
            part = ids[start : start + CHUNK_ROWS]
            found += self.db.execute(
                "SELECT h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
                f" WHERE u.depth > ? AND u.id IN ({','.join('?' * len(part))})",
                (depth, *part),
            ).fetchall()
        return [Url(url) for (url,) in found]

    def requeue_skipped(self, id_: int, candidate: CandidateUrl) -> None:
        """Queue a URL that was skipped for a reason in SOFT_REASONS."""
        row = self.db.execute(
            "UPDATE urls SET state = ?, reason = '', depth = ?, via = ? WHERE id = ? AND state = ? RETURNING host",
            (UrlState.QUEUED, candidate.depth, candidate.referrer_id, id_, UrlState.SKIPPED),
        ).fetchone()
        if row:
            self._enqueue(row[0], candidate.rank, id_)
            self.cache_known_url(candidate.url, KnownUrl(id_, candidate.depth))

    def requeue_visited(self, id_: int, get_rank: Callable[[int], float]) -> None:
        """Queue a visited URL again; `get_rank` maps its depth to a rank."""
        row = self.db.execute(
            "UPDATE urls SET state = ? WHERE id = ? AND state = ? RETURNING host, depth",
            (UrlState.QUEUED, id_, UrlState.VISITED),
        ).fetchone()
        if row:
            self._enqueue(row[0], get_rank(row[1]), id_)

    def _enqueue(self, host: int, rank: float, id_: int) -> None:
        self.db.execute("INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", (host, rank, id_))
        self.db.execute("UPDATE hosts SET waiting = waiting + 1 WHERE id = ?", (host,))
