"""The book of known URLs: every URL ever met has one row, one id and the shortest depth it was found at.

Most links of a page are known already. A bounded cache answers for those met often by Python's own 64-bit hash; a
compact roll answers for most of the others, and says which are new for sure. Only the rest asks the database, all of a
batch at once. What earlier runs wrote is entered in the roll little by little; until then it calls nobody new.

Inside this room an answer is one number: the id, the depth in its last byte, and LIFTABLE above both.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.frontier.seen_filter import SeenFilter
from sanderling.frontier.url_cache import OCCURRENCE_UNIT, VALUE_MASK, UrlCache
from sanderling.models import CandidateUrl, Host, Reason, Url, UrlRole, UrlSource, UrlState
from sanderling.runtime.memory import use_huge_pages

MAX_CACHED_HOSTS = 200_000  # ids remembered
CHUNK_ROWS = 400  # rows asked for in one statement
STATEMENT_SIZES = (
    1,
    8,
    32,
    128,
    CHUNK_ROWS,
)  # rows a statement is made for: few statements, so that each is prepared once
LOAD_ROWS = 2_000  # of earlier runs, entered in the roll at a time
GROWTH_THRESHOLD = 150_000  # URLs in the roll by which memory has grown; after it, each time they are twice as many
DEPTH_MASK = 255  # of an answer; what is deeper counts as this deep
QUEUED, LINK, PAGE = UrlState.QUEUED, UrlSource.LINK, UrlRole.PAGE
SOFT_SKIP_FLAG = 1 << 56  # in an answer: skipped for a reason that this finding may lift
SOFT_REASONS = frozenset(
    {Reason.DEPTH, Reason.NOFOLLOW, Reason.FOREIGN_SITEMAP, Reason.IRRELEVANT, Reason.LIMIT}
)  # reasons that another way to the same URL may lift


SELECT_KNOWN_URLS = (  # joined, since SQLite would read the whole book for (host, path) IN (VALUES ...)
    "WITH asked (host, path) AS (VALUES {}) SELECT u.host, u.path, u.id, u.depth, u.state, u.reason"
    " FROM asked AS a JOIN urls AS u ON u.host = a.host AND u.path = a.path"
)
INSERT_URL = (
    "INSERT INTO urls (id, host, path, depth, via, found_at, wire, state, reason, source, hops, note, role) VALUES"
    " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_LINK = (  # what nearly all are: a plain link that is to be visited
    "INSERT INTO urls (id, host, path, depth, via, found_at, wire, state, reason, source, hops, note, role) VALUES"
    f" (?, ?, ?, ?, ?, ?, '', '{QUEUED}', '', '{LINK}', 0, '', '{PAGE}')"
)


class KnownUrl(Struct, frozen=True, gc=False):
    """A URL we have met."""

    id: int
    depth: int
    is_soft_skip: bool = False  # skipped for a reason that this finding may lift


class FrontierEntry(Struct, frozen=True, gc=False):
    """A new URL with what was decided about it."""

    candidate: CandidateUrl
    state: UrlState
    reason: Reason = Reason.NONE
    detail: str = ""


def pack_known_url(known: KnownUrl) -> int:
    """An answer as one number."""
    return known.is_soft_skip * SOFT_SKIP_FLAG | known.id << 8 | min(known.depth, DEPTH_MASK)


def unpack_known_url(packed_url: int) -> KnownUrl:
    """The number again in words."""
    return KnownUrl(unpack_url_id(packed_url), packed_url & DEPTH_MASK, packed_url >= SOFT_SKIP_FLAG)


def unpack_url_id(packed_url: int) -> int:
    """The id in an answer."""
    return (packed_url & SOFT_SKIP_FLAG - 1) >> 8


def _build_row(id_: int, host_id: int, path: str, entry: FrontierEntry, now: float) -> tuple[object, ...]:
    """All columns of a new URL; enums as plain strings, since SQLite would look for somebody to translate them."""
    new = entry.candidate
    found = str(new.source), new.hops, entry.detail, str(new.role)
    return (
        id_,
        host_id,
        path,
        new.depth,
        new.referrer_id,
        now,
        new.request_url,
        str(entry.state),
        str(entry.reason),
        *found,
    )


class UrlStore:
    """Looks URLs up and writes new ones down."""

    def __init__(
        self, db: Connection, url_cache: UrlCache | None = None, seen_filter: SeenFilter | None = None
    ) -> None:
        self.db = db
        self.next_id = 1 + int(db.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()[0])
        self.host_ids: dict[Host, int] = {}
        self.url_cache = url_cache or UrlCache()
        self.seen_filter = seen_filter or SeenFilter()
        self.loaded_until = 0  # ids up to this one are in the roll
        self.load_end = self.next_id - 1  # and so are those after this one
        self.next_growth = GROWTH_THRESHOLD

    def get(self, urls: Iterable[Url]) -> dict[Url, KnownUrl]:
        """Find all that are known; what is not in the answer is new."""
        return {url: unpack_known_url(answer) for url, answer in self.get_packed(urls).items()}

    def get_packed(self, urls: Iterable[Url]) -> dict[Url, int]:
        """The same in numbers, for those who ask for every link of a crawl."""
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
            self.url_cache.hits -= len(unsure)  # the others needed no disk
            self._query_database(unsure, found)
        return found

    def _query_seen_filter(self, missing: Sequence[Url], found: dict[Url, int]) -> Sequence[Url]:
        """Take what the roll knows; what only the disk can tell is left."""
        if self.loaded_until < self.load_end:
            self._load_earlier_urls()
        often, unsure = self.seen_filter.lookup(missing, found)
        for url in often:
            self.url_cache.put(hash(url), found[url])
        if self.loaded_until < self.load_end:
            return [url for url in missing if url not in found]
        return unsure

    def _load_earlier_urls(self) -> None:
        """Enter some more of what earlier runs wrote down."""
        rows = self.db.execute(
            "SELECT u.id, h.name || u.path, u.depth, u.state, u.reason FROM urls AS u JOIN hosts AS h ON h.id = u.host"
            " WHERE u.id > ? ORDER BY u.id LIMIT ?",
            (self.loaded_until, LOAD_ROWS),
        ).fetchall()
        for id_, url, depth, state, reason in rows:
            self.cache_known_url(Url(url), KnownUrl(id_, depth, state == UrlState.SKIPPED and reason in SOFT_REASONS))
        self.loaded_until = rows[-1][0]

    def _query_database(self, unsure: Sequence[Url], found: dict[Url, int]) -> None:
        """Ask the disk, for many at once whatever their hosts."""
        wanted: dict[tuple[int, str], Url] = {}
        for url in unsure:
            slash = url.index("/", 8)
            if host := self.get_host_id(Host(url[:slash])):
                wanted[host, url[slash:]] = url
        keys = list(wanted)
        for start in range(0, len(keys), CHUNK_ROWS):
            part = keys[start : start + CHUNK_ROWS]
            part += part[-1:] * (next(size for size in STATEMENT_SIZES if size >= len(part)) - len(part))
            asked = ",".join(["(?, ?)"] * len(part))
            for host, path, id_, depth, state, reason in self.db.execute(
                SELECT_KNOWN_URLS.format(asked), list(chain(*part))
            ):
                known = KnownUrl(id_, depth, state == UrlState.SKIPPED and reason in SOFT_REASONS)
                url = wanted[host, path]
                found[url] = pack_known_url(known)
                self.cache_known_url(url, known)

    def cache_known_url(self, url: Url, known: KnownUrl) -> None:
        """Keep an answer in memory: in the roll, and in the cache once it was met again."""
        key = hash(url)
        if known.is_soft_skip:
            self.seen_filter.mark_seen(key)  # the disk is asked each time whether its reason still stands
            return
        answer = pack_known_url(known)
        self.seen_filter.put(key, answer)
        if key in self.url_cache.values:
            self.url_cache.put(key, answer)

    def get_host_id(self, host: Host) -> int:
        """The id of a known host; 0 if it is new."""
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
            cursor = self.db.execute("INSERT INTO hosts (name) VALUES (?) RETURNING id", (host,))
            known = self.host_ids[host] = cursor.fetchone()[0]
        return known

    def insert_and_enqueue(self, entries: Sequence[FrontierEntry], now: float) -> dict[Url, int]:
        """Write new URLs down and queue those that are to be visited; give their ids."""
        ids: dict[Url, int] = {}
        links, others, queued, waiting = [], [], [], dict[int, int]()
        hosts, roll = self.host_ids, self.seen_filter
        for id_, entry in enumerate(entries, self.next_id):
            new, reason = entry.candidate, entry.reason
            url, depth = new.url, new.depth
            slash = url.index("/", 8)
            host = hosts.get(name := Host(url[:slash])) or self._ensure_host_id(name)
            ids[url] = id_
            wanted = entry.state is QUEUED
            if wanted and new.source is LINK and new.role is PAGE and not (new.request_url or new.hops or entry.detail):
                links.append((id_, host, url[slash:], depth, new.referrer_id, now))
            else:
                others.append(_build_row(id_, host, url[slash:], entry, now))
            if wanted:
                queued.append((host, new.rank, id_))
                waiting[host] = waiting.get(host, 0) + 1
            if reason and reason in SOFT_REASONS:
                roll.mark_seen(hash(url))
            else:
                roll.put(hash(url), id_ << 8 | (depth if depth < DEPTH_MASK else DEPTH_MASK))
        self.next_id += len(entries)
        if roll.put_count > self.next_growth:
            self.next_growth = 2 * roll.put_count
            use_huge_pages()
        self.db.executemany(INSERT_LINK, links)
        self.db.executemany(INSERT_URL, others)
        self.db.executemany("INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", queued)
        self.db.executemany(
            "UPDATE hosts SET waiting = waiting + ? WHERE id = ?", [(count, host) for host, count in waiting.items()]
        )
        return ids

    def lower_depth(self, id_: int, candidate: CandidateUrl) -> bool:
        """Note that a shorter way to a known URL was found; say whether its links must hear of it."""
        row = self.db.execute(
            "UPDATE urls SET depth = ?, via = ? WHERE id = ? AND depth > ? RETURNING state",
            (candidate.depth, candidate.referrer_id, id_, candidate.depth),
        ).fetchone()
        self.cache_known_url(candidate.url, KnownUrl(id_, candidate.depth))
        return row is not None and row[0] == UrlState.VISITED

    def find_deeper(self, depth: int, ids: Sequence[int]) -> list[Url]:
        """Those of these URLs that are known by a longer way only."""
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
        """Queue a URL that was skipped for a soft reason."""
        row = self.db.execute(
            "UPDATE urls SET state = ?, reason = '', depth = ?, via = ? WHERE id = ? AND state = ? RETURNING host",
            (UrlState.QUEUED, candidate.depth, candidate.referrer_id, id_, UrlState.SKIPPED),
        ).fetchone()
        if row:
            self._enqueue(row[0], candidate.rank, id_)
            self.cache_known_url(candidate.url, KnownUrl(id_, candidate.depth))

    def requeue_visited(self, id_: int, get_rank: Callable[[int], float]) -> None:
        """Queue a URL once more that was visited, with the rank of its depth."""
        row = self.db.execute(
            "UPDATE urls SET state = ? WHERE id = ? AND state = ? RETURNING host, depth",
            (UrlState.QUEUED, id_, UrlState.VISITED),
        ).fetchone()
        if row:
            self._enqueue(row[0], get_rank(row[1]), id_)

    def _enqueue(self, host: int, rank: float, id_: int) -> None:
        self.db.execute("INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", (host, rank, id_))
        self.db.execute("UPDATE hosts SET waiting = waiting + 1 WHERE id = ?", (host,))
