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
from sanderling.frontier.seen_filter import Roll
from sanderling.frontier.url_cache import MET, REST, Occurrences
from sanderling.models import Candidate, Host, Reason, Role, Source, State, Url
from sanderling.runtime.memory import use_wide_pages

MAX_HOSTS = 200_000  # ids remembered
CHUNK = 400  # rows asked for in one statement
SIZES = (1, 8, 32, 128, CHUNK)  # rows a statement is made for: few statements, so that each is prepared once
READ_ROWS = 2_000  # of earlier runs, entered in the roll at a time
GROWN = 150_000  # URLs in the roll by which memory has grown; after it, each time they are twice as many
DEPTH = 255  # of an answer; what is deeper counts as this deep
QUEUED, LINK, PAGE = State.QUEUED, Source.LINK, Role.PAGE
LIFTABLE = 1 << 56  # in an answer: skipped for a reason that this finding may lift
SOFT = frozenset(
    {Reason.DEPTH, Reason.NOFOLLOW, Reason.FOREIGN, Reason.IRRELEVANT, Reason.LIMIT}
)  # reasons that another way to the same URL may lift


ASK = (  # joined, since SQLite would read the whole book for (host, path) IN (VALUES ...)
    "WITH asked (host, path) AS (VALUES {}) SELECT u.host, u.path, u.id, u.depth, u.state, u.reason"
    " FROM asked AS a JOIN urls AS u ON u.host = a.host AND u.path = a.path"
)
ADD = (
    "INSERT INTO urls (id, host, path, depth, via, found_at, wire, state, reason, source, hops, note, role) VALUES"
    " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
ADD_LINK = (  # what nearly all are: a plain link that is to be visited
    "INSERT INTO urls (id, host, path, depth, via, found_at, wire, state, reason, source, hops, note, role) VALUES"
    f" (?, ?, ?, ?, ?, ?, '', '{QUEUED}', '', '{LINK}', 0, '', '{PAGE}')"
)


class Known(Struct, frozen=True, gc=False):
    """A URL we have met."""

    id: int
    depth: int
    soft: bool = False  # skipped for a reason that this finding may lift


class Entry(Struct, frozen=True, gc=False):
    """A new URL with what was decided about it."""

    candidate: Candidate
    state: State
    reason: Reason = Reason.NONE
    note: str = ""


def packed(known: Known) -> int:
    """An answer as one number."""
    return known.soft * LIFTABLE | known.id << 8 | min(known.depth, DEPTH)


def unpacked(answer: int) -> Known:
    """The number again in words."""
    return Known(id_of(answer), answer & DEPTH, answer >= LIFTABLE)


def id_of(answer: int) -> int:
    """The id in an answer."""
    return (answer & LIFTABLE - 1) >> 8


def _row(id_: int, host: int, path: str, entry: Entry, now: float) -> tuple[object, ...]:
    """All columns of a new URL; enums as plain strings, since SQLite would look for somebody to translate them."""
    new = entry.candidate
    found = str(new.source), new.hops, entry.note, str(new.role)
    return id_, host, path, new.depth, new.via, now, new.wire, str(entry.state), str(entry.reason), *found


class Book:
    """Looks URLs up and writes new ones down."""

    def __init__(self, db: Connection, cache: Occurrences | None = None, roll: Roll | None = None) -> None:
        self.db = db
        self.next_id = 1 + int(db.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()[0])
        self.hosts: dict[Host, int] = {}
        self.cache = cache or Occurrences()
        self.roll = roll or Roll()
        self.read_until = 0  # ids up to this one are in the roll
        self.read_end = self.next_id - 1  # and so are those after this one
        self.grown_at = GROWN

    def find(self, urls: Iterable[Url]) -> dict[Url, Known]:
        """Find all that are known; what is not in the answer is new."""
        return {url: unpacked(answer) for url, answer in self.look_up(urls).items()}

    def look_up(self, urls: Iterable[Url]) -> dict[Url, int]:
        """The same in numbers, for those who ask for every link of a crawl."""
        found: dict[Url, int] = {}
        missing: list[Url] = []
        values = self.cache.values
        for url in urls:
            key = hash(url)
            value = values.pop(key, None)
            if value is None:
                missing.append(url)
            else:
                values[key] = value + MET
                found[url] = value & REST
        self.cache.asked += len(found) + len(missing)
        self.cache.hits += len(found) + len(missing)
        if missing:
            unsure = self._ask_roll(missing, found)
            self.cache.hits -= len(unsure)  # the others needed no disk
            self._ask(unsure, found)
        return found

    def _ask_roll(self, missing: Sequence[Url], found: dict[Url, int]) -> Sequence[Url]:
        """Take what the roll knows; what only the disk can tell is left."""
        if self.read_until < self.read_end:
            self._read_on()
        often, unsure = self.roll.answer(missing, found)
        for url in often:
            self.cache.keep(hash(url), found[url])
        if self.read_until < self.read_end:
            return [url for url in missing if url not in found]
        return unsure

    def _read_on(self) -> None:
        """Enter some more of what earlier runs wrote down."""
        rows = self.db.execute(
            "SELECT u.id, h.name || u.path, u.depth, u.state, u.reason FROM urls AS u JOIN hosts AS h ON h.id = u.host"
            " WHERE u.id > ? ORDER BY u.id LIMIT ?",
            (self.read_until, READ_ROWS),
        ).fetchall()
        for id_, url, depth, state, reason in rows:
            self.remember(Url(url), Known(id_, depth, state == State.SKIPPED and reason in SOFT))
        self.read_until = rows[-1][0]

    def _ask(self, unsure: Sequence[Url], found: dict[Url, int]) -> None:
        """Ask the disk, for many at once whatever their hosts."""
        wanted: dict[tuple[int, str], Url] = {}
        for url in unsure:
            slash = url.index("/", 8)
            if host := self.host_id(Host(url[:slash])):
                wanted[host, url[slash:]] = url
        keys = list(wanted)
        for start in range(0, len(keys), CHUNK):
            part = keys[start : start + CHUNK]
            part += part[-1:] * (next(size for size in SIZES if size >= len(part)) - len(part))
            asked = ",".join(["(?, ?)"] * len(part))
            for host, path, id_, depth, state, reason in self.db.execute(ASK.format(asked), list(chain(*part))):
                known = Known(id_, depth, state == State.SKIPPED and reason in SOFT)
                url = wanted[host, path]
                found[url] = packed(known)
                self.remember(url, known)

    def remember(self, url: Url, known: Known) -> None:
        """Keep an answer in memory: in the roll, and in the cache once it was met again."""
        key = hash(url)
        if known.soft:
            self.roll.pass_by(key)  # the disk is asked each time whether its reason still stands
            return
        answer = packed(known)
        self.roll.note(key, answer)
        if key in self.cache.values:
            self.cache.keep(key, answer)

    def host_id(self, host: Host) -> int:
        """The id of a known host; 0 if it is new."""
        known = self.hosts.get(host)
        if known is None:
            row = self.db.execute("SELECT id FROM hosts WHERE name = ?", (host,)).fetchone()
            if row is None:
                return 0
            if len(self.hosts) >= MAX_HOSTS:
                self.hosts.clear()
            known = self.hosts[host] = row[0]
        return known

    def _host_for(self, host: Host) -> int:
        known = self.host_id(host)
        if not known:
            cursor = self.db.execute("INSERT INTO hosts (name) VALUES (?) RETURNING id", (host,))
            known = self.hosts[host] = cursor.fetchone()[0]
        return known

    def add(self, entries: Sequence[Entry], now: float) -> dict[Url, int]:
        """Write new URLs down and queue those that are to be visited; give their ids."""
        ids: dict[Url, int] = {}
        links, others, queued, waiting = [], [], [], dict[int, int]()
        hosts, roll = self.hosts, self.roll
        for id_, entry in enumerate(entries, self.next_id):
            new, reason = entry.candidate, entry.reason
            url, depth = new.url, new.depth
            slash = url.index("/", 8)
            host = hosts.get(name := Host(url[:slash])) or self._host_for(name)
            ids[url] = id_
            wanted = entry.state is QUEUED
            if wanted and new.source is LINK and new.role is PAGE and not (new.wire or new.hops or entry.note):
                links.append((id_, host, url[slash:], depth, new.via, now))
            else:
                others.append(_row(id_, host, url[slash:], entry, now))
            if wanted:
                queued.append((host, new.rank, id_))
                waiting[host] = waiting.get(host, 0) + 1
            if reason and reason in SOFT:
                roll.pass_by(hash(url))
            else:
                roll.note(hash(url), id_ << 8 | (depth if depth < DEPTH else DEPTH))
        self.next_id += len(entries)
        if roll.noted > self.grown_at:
            self.grown_at = 2 * roll.noted
            use_wide_pages()
        self.db.executemany(ADD_LINK, links)
        self.db.executemany(ADD, others)
        self.db.executemany("INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", queued)
        self.db.executemany(
            "UPDATE hosts SET waiting = waiting + ? WHERE id = ?", [(count, host) for host, count in waiting.items()]
        )
        return ids

    def shorten(self, id_: int, candidate: Candidate) -> bool:
        """Note that a shorter way to a known URL was found; say whether its links must hear of it."""
        row = self.db.execute(
            "UPDATE urls SET depth = ?, via = ? WHERE id = ? AND depth > ? RETURNING state",
            (candidate.depth, candidate.via, id_, candidate.depth),
        ).fetchone()
        self.remember(candidate.url, Known(id_, candidate.depth))
        return row is not None and row[0] == State.VISITED

    def deeper_than(self, depth: int, ids: Sequence[int]) -> list[Url]:
        """Those of these URLs that are known by a longer way only."""
        found = []
        for start in range(0, len(ids), CHUNK):
            part = ids[start : start + CHUNK]
            found += self.db.execute(
                "SELECT h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
                f" WHERE u.depth > ? AND u.id IN ({','.join('?' * len(part))})",
                (depth, *part),
            ).fetchall()
        return [Url(url) for (url,) in found]

    def requeue(self, id_: int, candidate: Candidate) -> None:
        """Queue a URL that was skipped for a soft reason."""
        row = self.db.execute(
            "UPDATE urls SET state = ?, reason = '', depth = ?, via = ? WHERE id = ? AND state = ? RETURNING host",
            (State.QUEUED, candidate.depth, candidate.via, id_, State.SKIPPED),
        ).fetchone()
        if row:
            self._enqueue(row[0], candidate.rank, id_)
            self.remember(candidate.url, Known(id_, candidate.depth))

    def visit_again(self, id_: int, rank: Callable[[int], float]) -> None:
        """Queue a URL once more that was visited, with the rank of its depth."""
        row = self.db.execute(
            "UPDATE urls SET state = ? WHERE id = ? AND state = ? RETURNING host, depth",
            (State.QUEUED, id_, State.VISITED),
        ).fetchone()
        if row:
            self._enqueue(row[0], rank(row[1]), id_)

    def _enqueue(self, host: int, rank: float, id_: int) -> None:
        self.db.execute("INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", (host, rank, id_))
        self.db.execute("UPDATE hosts SET waiting = waiting + 1 WHERE id = ?", (host,))
