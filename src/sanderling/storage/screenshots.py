"""Read the screenshot of a stored version: a resource record that follows the record of the page."""

from itertools import islice
from pathlib import Path

from sanderling.db.connection import Connection
from sanderling.warc.packer import SCREENSHOT_PREFIX
from sanderling.warc.warc_reader import StoredRecord, iterate_records

MAX_RECORDS = 1_000  # of a page; the screenshot is the last
MAX_SCREENSHOT_BYTES = 20_000_000
VERSION_SQL = (
    "SELECT f.name, v.start, v.length, v.record FROM visits AS v JOIN files AS f ON f.id = v.file"
    " WHERE v.url = ? AND v.length > 0 AND v.outcome = 'fetched' AND (? = 0 OR v.id = ?) AND v.at <= ?"
    " ORDER BY v.at DESC, v.id DESC LIMIT 1"
)


def load_screenshot(
    db: Connection, archive: Path, url_id: int, visit: int = 0, max_time: float | None = None
) -> StoredRecord | None:
    """Return the screenshot of a visit, else of the last version not after `max_time`. None: there is none."""
    row = db.execute(VERSION_SQL, (url_id, visit, visit, 1e18 if max_time is None else max_time)).fetchone()
    path = Path(archive, row[0]) if row else None
    if path is None or not path.exists():
        return None
    end_offset, page_record = row[1] + row[2], row[3]
    for record in islice(iterate_records(path, MAX_SCREENSHOT_BYTES, start_offset=end_offset), MAX_RECORDS):
        if not isinstance(record, StoredRecord) or record.get_field("WARC-Concurrent-To").strip("<>") != page_record:
            return None  # the next page
        if record.url.startswith(SCREENSHOT_PREFIX) and record.record_type == "resource":
            return record
    return None
