"""The ledger of changes: facts are written down, verdicts are given when somebody asks.

What is noise on a site is learned page by page, so the first pages of a batch are judged knowing less than the last.
Therefore the bare difference is stored; `entries` judges it again with all that was learned since.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct, msgpack

from sanderling.changes.classify import Change, Kind, judge
from sanderling.changes.diff import Difference
from sanderling.changes.noise_model import Noise
from sanderling.changes.resource_changes import Swap
from sanderling.db.connection import Connection

UNREADABLE = Change(kinds=(Kind.CONTENT,), significance=0.4, amount=1.0)
"""A document that is no page: its bytes differ, and more cannot be said."""
REPLACED = Change(kinds=(Kind.MEDIA,), significance=0.4, amount=1.0)
"""An image that is another one now."""

INSERT = "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (url, at) DO NOTHING"
_differences = msgpack.Decoder(Difference)


def _verdict(change: Change) -> tuple[str, float]:
    return " ".join(change.kinds), change.significance


class Noted(Struct, frozen=True):
    """One change as it stands in the ledger."""

    url: int
    at: float
    previous_at: float
    site: str
    change: Change


class Ledger:
    """Writes changes down and learns what is noise."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.noises: dict[str, Noise] = {}
        self.touched: set[str] = set()

    def noise(self, site: str) -> Noise:
        """What is known to be noise on a site."""
        if site not in self.noises:
            row = self.db.execute("SELECT state FROM noise WHERE site = ?", (site,)).fetchone()
            self.noises[site] = Noise.from_bytes(row[0] if row else b"")
        return self.noises[site]

    def same(self, url: int, site: str, *, is_copy: bool = False) -> None:
        """A page was the same to the byte. `is_copy`: it is another one's, under another address."""
        self.noise(site).learn(url, None, is_copy=is_copy)
        self.touched.add(site)

    def note(
        self,
        url: int,
        site: str,
        at: float,
        previous_at: float,
        found: Difference | None,
        mime: str = "",
        *,
        is_copy: bool = False,
    ) -> Change:
        """Write down how a page differs from its last version; of what is no page its bytes are all we know."""
        change, facts = REPLACED if mime.startswith("image/") else UNREADABLE, b""
        if found is not None:
            noise = self.noise(site)
            noise.learn(url, found, is_copy=is_copy)
            self.touched.add(site)
            change, facts = judge(found, noise, url), msgpack.encode(found)
        self.db.execute(INSERT, (url, at, previous_at, site, *_verdict(change), facts))
        return change

    def note_replaced(self, url: int, site: str, at: float, previous_at: float, swap: Swap) -> Change:
        """Write down that something a page uses was replaced; the page itself may be the same to the byte."""
        found = Difference(resources=(swap,))
        change = judge(found)
        self.db.execute(INSERT, (url, at, previous_at, site, *_verdict(change), msgpack.encode(found)))
        return change

    def save(self) -> None:
        """Write down what was learned; call inside the transaction of the batch."""
        self.db.executemany(
            "INSERT INTO noise VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET state = excluded.state",
            [(site, self.noises[site].to_bytes()) for site in self.touched],
        )
        self.touched.clear()


def entries(db: Connection, since: float = 0.0, url: int | None = None) -> Iterator[Noted]:
    """Changes, newest first, judged by what is known now; what turned out to be noise has no kinds."""
    ledger = Ledger(db)
    where, values = ("url = ?", (url, since)) if url is not None else ("1 = 1", (since,))
    rows: Sequence[tuple[int, float, float, str, bytes, str]] = db.execute(
        "SELECT url, at, previous_at, site, difference, kinds FROM changes"
        f" WHERE {where} AND at >= ? ORDER BY at DESC, url",
        values,
    ).fetchall()
    for id_, at, previous, site, facts, kinds in rows:
        bare = REPLACED if kinds == Kind.MEDIA else UNREADABLE
        change = judge(_differences.decode(facts), ledger.noise(site), id_) if facts else bare
        yield Noted(id_, at, previous, site, change)
