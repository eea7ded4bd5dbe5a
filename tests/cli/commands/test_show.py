"""The text of a stored page, as a person would read it."""

import pytest

from sanderling.cli.commands.show import get_page_text
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord


@pytest.mark.parametrize(
    ("mime", "body", "text"),
    [
        ("text/html", "<p>one<p>two", "one\ntwo"),
        ("text/plain; charset=windows-1252", "one\ntwo", "one\ntwo"),
        ("", "one\ntwo", "one\ntwo"),
        ("application/json", '{"one":[2]}', '{\n "one": [\n  2\n ]\n}'),
        ("application/atom+xml", "<feed/>", "<feed/>"),
        ("image/png", "\0", "[image/png, 1 bytes]"),
        ("application/json", "\0", "[application/json, 1 bytes]"),
        ("", "\0", "[no type, 1 bytes]"),
    ],
)
def test_what_has_words_is_shown_as_text(mime: str, body: str, text: str) -> None:
    fields = (("Content-Type", mime),) if mime else ()
    record = StoredRecord("response", RecordLocation("x.warc.gz", 0, 1), (), 200, fields, body.encode())
    assert get_page_text(record) == text
