"""Looking at what is stored: the body of a page, of the last visit or of the last one before a time."""

from datetime import UTC, datetime

from sanderling.errors import UsageError
from sanderling.organise.normalise import normalise
from sanderling.store.collection import Collection
from sanderling.store.listing import url_id
from sanderling.store.read import StoredRecord, read_record
from sanderling.store.warc_records import Place


def known_url(collection: Collection, text: str) -> tuple[int, str]:
    """The id and the key of a URL somebody typed; a bare name means https, or http where only that is known."""
    typed = [text] if "://" in text else [f"https://{text}", f"http://{text}"]
    keys = [spelling.url for raw in typed if (spelling := normalise(raw)) is not None]
    if not keys:
        raise UsageError(f"{text!r} is no http or https URL")
    for key in keys:
        if id_ := url_id(collection.db, key):
            return id_, key
    raise UsageError(f"{keys[0]} is not in {collection.folder}; sanderling pages lists what is")


STORED = """
    FROM visits AS v JOIN files AS f ON f.id = v.file
    WHERE v.url = ? AND v.length > 0 AND v.outcome IN ('fetched', 'redirect')
"""  # a 304 only says that the answer before it still holds: it need not name type and charset again


def stored(collection: Collection, url: int, key: str, before: float | None = None) -> StoredRecord:
    """The stored answer for a URL: the last one, or the last one not after a time."""
    row = collection.db.execute(
        f"SELECT f.name, v.start, v.length {STORED} AND v.at <= ? ORDER BY v.at DESC, v.id DESC LIMIT 1",
        (url, before if before is not None else 1e18),
    ).fetchone()
    if row is None:
        raise UsageError(f"nothing is stored for {key}{_why_none(collection, url)}")
    return read_record(collection.archive, Place(*row))


def _why_none(collection: Collection, url: int) -> str:
    (first,) = collection.db.execute(f"SELECT min(v.at) {STORED}", (url,)).fetchone()
    if first is not None:
        return f" at that time: it was first seen at {datetime.fromtimestamp(first, UTC):%Y-%m-%d %H:%M:%S} UTC"
    state, reason = collection.db.execute("SELECT state, reason FROM urls WHERE id = ?", (url,)).fetchone()
    return f": it is {state}{f' ({reason})' if reason else ''}"
