"""The nearest capture, and the original of a revisit record."""

import pytest
from msgspec.structs import replace

from sanderling.warc.capture_choice import find_nearest, find_original
from sanderling.warc.cdxj import CdxjEntry
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord

DAY = 86_400.0


def build_test_entry(url: str, at: float = DAY, offset: int = 0) -> CdxjEntry:
    return CdxjEntry(url, at, "text/html", 200, "sha256:X", RecordLocation("a.warc.gz", offset, 9))


def test_nearest_capture_in_time_is_found() -> None:
    entries = [build_test_entry("http://a/", DAY * day) for day in (1, 3, 9)]
    assert find_nearest(entries, DAY * 5) == entries[1]
    assert find_nearest([], 0) is None


def test_original_of_a_revisit_is_found_among_captures_of_a_second() -> None:
    entries = [replace(build_test_entry("http://a/", DAY), payload_digest=f"sha256:{digest}") for digest in "ABC"]
    entries.append(build_test_entry("http://a/", DAY + 1))
    assert find_nearest(entries, DAY + 0.9, "sha256:B") == entries[1]  # dates of records have fractions
    assert find_nearest(entries, DAY + 0.9, "sha256:D") == entries[0]


@pytest.mark.parametrize(
    ("date", "digest", "status", "place"),
    [
        ("", "sha256:X", 200, 0),  # a version between the original and the revisit record is nearer
        ("", "", 304, 1),
        ("", "sha256:EMPTY", 304, 1),
        ("1970-01-02T00:00:00Z", "sha256:EMPTY", 304, 0),
        ("1970-01-02T00:00:01Z", "md5:Z", 200, 0),
        ("1970-01-03T12:00:00Z", "", 200, None),
        ("", "sha256:NONE", 200, None),
    ],
)
def test_original_has_the_digest_or_else_the_date(date: str, digest: str, status: int, place: int | None) -> None:
    captures = [
        build_test_entry("http://a/", DAY),
        replace(build_test_entry("http://a/", DAY * 2), payload_digest="sha256:Y"),
    ]
    captures.append(replace(captures[1], captured_at=DAY * 4))
    fields = (("WARC-Date", "1970-01-04T00:00:00Z"), ("WARC-Refers-To-Date", date), ("WARC-Payload-Digest", digest))
    revisit = StoredRecord("revisit", RecordLocation("a.warc.gz", 0, 9), fields, status)
    assert find_original(captures, revisit) == (None if place is None else captures[place])
