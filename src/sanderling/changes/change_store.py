"""The ledger of changes: facts are written down, verdicts are given when somebody asks.

What is noise on a site is learned page by page, so the first pages of a batch are judged knowing less than the last.
Therefore the bare difference is stored; `entries` judges it again with all that was learned since.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct, msgpack

from sanderling.changes.classify import ChangeKind, PageChange, classify_diff
from sanderling.changes.fingerprint_diff import FingerprintDiff
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.resource_changes import ResourceChange
from sanderling.db.connection import Connection

UNREADABLE_CHANGE = PageChange(kinds=(ChangeKind.CONTENT,), significance=0.4, amount=1.0)
"""A document that is no page: its bytes differ, and more cannot be said."""
REPLACED_IMAGE_CHANGE = PageChange(kinds=(ChangeKind.MEDIA,), significance=0.4, amount=1.0)
"""An image that is another one now."""

INSERT_CHANGE = "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (url, at) DO NOTHING"
_diff_decoder = msgpack.Decoder(FingerprintDiff)


def _get_classification_columns(change: PageChange) -> tuple[str, float]:
    return " ".join(change.kinds), change.significance


class StoredChange(Struct, frozen=True):
    """One change as it stands in the ledger."""

    url_id: int
    seen_at: float
    previous_at: float
    site: str
    change: PageChange


class ChangeStore:
    """Writes changes down and learns what is noise."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.noise_models: dict[str, NoiseModel] = {}
        self.modified_sites: set[str] = set()

    def load_noise_model(self, site: str) -> NoiseModel:
        """What is known to be noise on a site."""
        if site not in self.noise_models:
            row = self.db.execute("SELECT state FROM noise WHERE site = ?", (site,)).fetchone()
            self.noise_models[site] = NoiseModel.from_bytes(row[0] if row else b"")
        return self.noise_models[site]

    def record_unchanged(self, url_id: int, site: str, *, is_copy: bool = False) -> None:
        """A page was the same to the byte. `is_copy`: it is another one's, under another address."""
        self.load_noise_model(site).learn(url_id, None, is_copy=is_copy)
        self.modified_sites.add(site)

    def record_change(
        self,
        url_id: int,
        site: str,
        seen_at: float,
        previous_at: float,
        diff: FingerprintDiff | None,
        mime: str = "",
        *,
        is_copy: bool = False,
    ) -> PageChange:
        """Write down how a page differs from its last version; of what is no page its bytes are all we know."""
        change, facts = REPLACED_IMAGE_CHANGE if mime.startswith("image/") else UNREADABLE_CHANGE, b""
        if diff is not None:
            noise = self.load_noise_model(site)
            noise.learn(url_id, diff, is_copy=is_copy)
            self.modified_sites.add(site)
            change, facts = classify_diff(diff, noise, url_id), msgpack.encode(diff)
        self.db.execute(
            INSERT_CHANGE, (url_id, seen_at, previous_at, site, *_get_classification_columns(change), facts)
        )
        return change

    def record_resource_change(
        self, url_id: int, site: str, seen_at: float, previous_at: float, resource_change: ResourceChange
    ) -> PageChange:
        """Write down that something a page uses was replaced; the page itself may be the same to the byte."""
        found = FingerprintDiff(resources=(resource_change,))
        change = classify_diff(found)
        self.db.execute(
            INSERT_CHANGE,
            (url_id, seen_at, previous_at, site, *_get_classification_columns(change), msgpack.encode(found)),
        )
        return change

    def save_noise_models(self) -> None:
        """Write down what was learned; call inside the transaction of the batch."""
        self.db.executemany(
            "INSERT INTO noise VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET state = excluded.state",
            [(site, self.noise_models[site].to_bytes()) for site in self.modified_sites],
        )
        self.modified_sites.clear()


def load_changes(db: Connection, since: float = 0.0, url_id: int | None = None) -> Iterator[StoredChange]:
    """Changes, newest first, judged by what is known now; what turned out to be noise has no kinds."""
    ledger = ChangeStore(db)
    where, values = ("url = ?", (url_id, since)) if url_id is not None else ("1 = 1", (since,))
    rows: Sequence[tuple[int, float, float, str, bytes, str]] = db.execute(
        "SELECT url, at, previous_at, site, difference, kinds FROM changes"
        f" WHERE {where} AND at >= ? ORDER BY at DESC, url",
        values,
    ).fetchall()
    for id_, at, previous, site, facts, kinds in rows:
        bare = REPLACED_IMAGE_CHANGE if kinds == ChangeKind.MEDIA else UNREADABLE_CHANGE
        change = classify_diff(_diff_decoder.decode(facts), ledger.load_noise_model(site), id_) if facts else bare
        yield StoredChange(id_, at, previous, site, change)
