"""Choose a capture of a URL: the nearest to a time, or the original of a revisit record."""

from collections.abc import Iterable
from math import floor

from sanderling.warc.cdxj import REVISIT_MIME, STATUS_NOT_MODIFIED, CdxjEntry, parse_whole_second
from sanderling.warc.warc_reader import StoredRecord

SAME_CAPTURE_SECONDS = 1.0  # dates of other programs are rounded


def find_nearest(entries: Iterable[CdxjEntry], target_time: float, digest: str = "") -> CdxjEntry | None:
    """Return the capture closest in time, if any; of several in a second, one with the digest.

    Entries have whole seconds: with a fraction of the target, the capture of the next second would be closer.
    """
    second = floor(target_time)
    return min(
        entries, key=lambda entry: (abs(entry.captured_at - second), entry.payload_digest != digest), default=None
    )


def find_original(captures: Iterable[CdxjEntry], revisit: StoredRecord) -> CdxjEntry | None:
    """Return the capture that a revisit record refers to, or None.

    It has the digest of the record, where there is one, and the date that the record names, else the last one before.
    """
    date, captured_at = (parse_whole_second(revisit.get_field(name)) for name in ("WARC-Refers-To-Date", "WARC-Date"))
    digest = revisit.get_field("WARC-Payload-Digest")
    originals = [entry for entry in captures if entry.mime != REVISIT_MIME]
    same = [entry for entry in originals if entry.payload_digest == digest]
    if digest and same:
        originals = same
    elif revisit.status != STATUS_NOT_MODIFIED:  # of which some programs store the digest of the empty body
        originals = [entry for entry in originals if not _is_comparable(entry.payload_digest, digest)]
    if not same and date:
        originals = [entry for entry in originals if abs(entry.captured_at - date) <= SAME_CAPTURE_SECONDS]
    if date:
        return find_nearest(originals, date, digest)
    return find_nearest([entry for entry in originals if entry.captured_at <= captured_at], captured_at, digest)


def _is_comparable(digest: str, other: str) -> bool:
    """Return whether two digests are of the same algorithm, so that different ones are of different bodies."""
    return bool(digest and other) and digest.partition(":")[0] == other.partition(":")[0]
