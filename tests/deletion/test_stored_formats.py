"""Unfinished deletions of existing collections, whose keys are older than the names of the fields."""

from msgspec import json, msgpack

from sanderling.deletion.page_deleter import PendingDeletion
from sanderling.deletion.selection import DeletionSelection
from sanderling.warc.records import RecordLocation

STORED_PENDING_DELETION = (
    b"\x83\xa6places\x91\x93\xa9a.warc.gz\n\x14\xa9elsewhere\x03\xa4urls\x81\xb4https://example.org/\x91"
    b"\xcb@\x14\x00\x00\x00\x00\x00\x00"
)
STORED_AGE_SELECTIONS = b'[{"patterns":["a*"],"gone":1.0,"unseen":2.0}]'


def test_stored_pending_deletion_is_decoded_and_encoded_in_the_same_form() -> None:
    pending = msgpack.decode(STORED_PENDING_DELETION, type=PendingDeletion)
    assert pending == PendingDeletion([RecordLocation("a.warc.gz", 10, 20)], 3, {"https://example.org/": [5.0]})
    assert msgpack.encode(pending) == STORED_PENDING_DELETION


def test_stored_age_selections_are_decoded_and_encoded_in_the_same_form() -> None:
    selections = json.decode(STORED_AGE_SELECTIONS, type=list[DeletionSelection])
    assert selections == [DeletionSelection(["a*"], gone_since=1.0, unseen_since=2.0)]
    assert json.encode(selections) == STORED_AGE_SELECTIONS
