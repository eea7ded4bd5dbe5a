"""Stores the facts of each change and the noise model of each site.

Noise is learned page by page, so changes are classified again when they are loaded, with everything learned since.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, msgpack

from sanderling.changes.classify import ChangeKind, PageChange, classify_diff
from sanderling.changes.fingerprint_diff import FingerprintDiff
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.resource_changes import ResourceChange
from sanderling.db.connection import Connection
from sanderling.page_rendering import VisualChange

UNREADABLE_CHANGE = PageChange(kinds=(ChangeKind.CONTENT,), significance=0.4, amount=1.0)
"""Change of a document that is not HTML: only its bytes are known to differ."""
REPLACED_IMAGE_CHANGE = PageChange(kinds=(ChangeKind.MEDIA,), significance=0.4, amount=1.0)
"""Change of an image under the same URL."""

INSERT_CHANGE = "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (url, at) DO NOTHING"
_diff_decoder = msgpack.Decoder(FingerprintDiff)


def _get_classification_columns(change: PageChange) -> tuple[str, float]:
    return " ".join(change.kinds), change.significance


class StoredChange(Struct, frozen=True):
    url_id: int
    seen_at: float
    previous_at: float
    site: str
    change: PageChange


class ChangeStore:
    def __init__(self, db: Connection) -> None:
        self.db = db
        self.noise_models: dict[str, NoiseModel] = {}
        self.modified_sites: set[str] = set()

    def load_noise_model(self, site: str) -> NoiseModel:
        if site not in self.noise_models:
            row = self.db.execute("SELECT state FROM noise WHERE site = ?", (site,)).fetchone()
            self.noise_models[site] = NoiseModel.from_bytes(row[0] if row else b"")
        return self.noise_models[site]

    def record_unchanged(self, url_id: int, site: str, *, is_copy: bool = False) -> None:
        """Record a visit with identical bytes. `is_copy`: the page is a copy of another URL."""
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
        """Store how a page differs from its last version.

        Without `diff` (not HTML), only the bytes are known to differ.
        """
        change, encoded_diff = REPLACED_IMAGE_CHANGE if mime.startswith("image/") else UNREADABLE_CHANGE, b""
        if diff is not None:
            noise = self.load_noise_model(site)
            noise.learn(url_id, diff, is_copy=is_copy)
            self.modified_sites.add(site)
            change, encoded_diff = classify_diff(diff, noise, url_id), msgpack.encode(diff)
        self.db.execute(
            INSERT_CHANGE, (url_id, seen_at, previous_at, site, *_get_classification_columns(change), encoded_diff)
        )
        return change

    def record_resource_change(
        self, url_id: int, site: str, seen_at: float, previous_at: float, resource_change: ResourceChange
    ) -> PageChange:
        """Store that a resource of a page was replaced; the page itself may be unchanged."""
        diff = FingerprintDiff(resources=(resource_change,))
        return self.record_other_change(url_id, site, seen_at, previous_at, diff)

    def record_other_change(
        self, url_id: int, site: str, seen_at: float, previous_at: float, diff: FingerprintDiff
    ) -> PageChange:
        """Store a change of what a page shows, whose bytes may be unchanged."""
        change = classify_diff(diff)
        self.db.execute(
            INSERT_CHANGE,
            (url_id, seen_at, previous_at, site, *_get_classification_columns(change), msgpack.encode(diff)),
        )
        return change

    def store_resource_uses(self, resources_by_page: Mapping[int, Sequence[int]]) -> None:
        """Replace the resources of pages; all are given as URL ids."""
        self.db.executemany("DELETE FROM page_resources WHERE page = ?", [(page,) for page in resources_by_page])
        self.db.executemany(
            "INSERT INTO page_resources VALUES (?, ?) ON CONFLICT (page, resource) DO NOTHING",
            [(page, resource) for page, resources in resources_by_page.items() for resource in resources],
        )

    def find_using_pages(self, resource_id: int, limit: int) -> list[int]:
        rows = self.db.execute("SELECT page FROM page_resources WHERE resource = ? LIMIT ?", (resource_id, limit))
        return [page for (page,) in rows]

    def save_noise_models(self) -> None:
        """Save modified noise models; call inside the transaction of the batch."""
        self.db.executemany(
            "INSERT INTO noise VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET state = excluded.state",
            [(site, self.noise_models[site].to_bytes()) for site in self.modified_sites],
        )
        self.modified_sites.clear()


def load_changes(db: Connection, since: float = 0.0, url_id: int | None = None) -> Iterator[StoredChange]:
    """Yield changes, newest first, classified with the current noise models; noise has no kinds."""
    change_store = ChangeStore(db)
    where, values = ("url = ?", (url_id, since)) if url_id is not None else ("1 = 1", (since,))
    rows: Sequence[tuple[int, float, float, str, bytes, str]] = db.execute(
        "SELECT url, at, previous_at, site, difference, kinds FROM changes"
        f" WHERE {where} AND at >= ? ORDER BY at DESC, url",
        values,
    ).fetchall()
    for stored_url_id, at, previous, site, encoded_diff, kinds in rows:
        default_change = REPLACED_IMAGE_CHANGE if kinds == ChangeKind.MEDIA else UNREADABLE_CHANGE
        change = (
            classify_diff(_diff_decoder.decode(encoded_diff), change_store.load_noise_model(site), stored_url_id)
            if encoded_diff
            else default_change
        )
        yield StoredChange(stored_url_id, at, previous, site, change)


def find_visual_change(db: Connection, url_id: int, seen_at: float) -> VisualChange | None:
    """Return how the screenshot of a version differs from the one before. None: there is none, or it does not."""
    changes = (stored for stored in load_changes(db, seen_at, url_id) if stored.seen_at == seen_at)
    return next((stored.change.visual for stored in changes), None)
