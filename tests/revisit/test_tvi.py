"""TVI tables and patched pages."""

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.tvi import (
    MAX_TABLE_BYTES,
    TVI_VISITS_PER_PAGE_VISIT,
    TviFiles,
    find_volatile_spans,
    parse_table,
    patch_page,
)

PAGE = "<link rel='tvi' href=shares.tvi><p>Shares: <!--Vol#a-->{}<!--/Vol#a--> and <Vol#b>{}</Vol#b>.</p>"


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="<")),
    st.text(st.characters(codec="utf-8", exclude_characters="<")),
)
def test_patched_copy_equals_full_download(first: str, second: str) -> None:
    stored = PAGE.format("1.00", "2.00").encode()
    assert patch_page(stored, {"a": first, "b": second}) == PAGE.format(first, second).encode()


def test_both_table_formats_are_parsed() -> None:
    assert parse_table(b'{"a": "1", "b": "2"}') == {"a": "1", "b": "2"}
    assert parse_table(b"Vol#a=1\nVol#b=2=3\n") == {"a": "1", "b": "2=3"}


def test_invalid_table_returns_none() -> None:
    for body in (
        b"",
        b"<html>404</html>",
        b'{"a": 1}',
        b"{",
        b"\xff\xfe",
        b"x" * (MAX_TABLE_BYTES + 1),
        b'{"a": "\xff"}',
    ):
        assert parse_table(body) is None


def test_unknown_or_ambiguous_part_patches_nothing() -> None:
    assert patch_page(PAGE.encode(), {"c": "3"}) is None
    assert patch_page(b"<Vol#a>1</Vol#a><Vol#a>2</Vol#a>", {"a": "3"}) is None
    assert patch_page(b"<Vol#a>1", {"a": "3"}) is None
    assert patch_page(b"<Vol#a>1<Vol#b>2</Vol#b></Vol#a>", {"a": "3", "b": "4"}) is None


def test_many_open_tags_are_parsed_in_linear_time() -> None:
    page = b"".join(b"<Vol#x%d>" % i for i in range(100_000))
    assert find_volatile_spans(page) == {}


def test_part_is_encoded_in_charset_of_copy() -> None:
    assert patch_page("<Vol#a>x</Vol#a>".encode("latin-1"), {"a": "é€"}, "latin-1") == b"<Vol#a>\xe9&#8364;</Vol#a>"


def test_page_is_visited_after_several_tvi_visits() -> None:
    db = sqlite3.connect(":memory:")
    for script in MIGRATIONS:
        db.executescript(script)
    tvi_files = TviFiles(db)
    tvi_files.record_file(1, 10)
    selected = [tvi_files.select_tvi_visits([1, 2]) for _ in range(TVI_VISITS_PER_PAGE_VISIT + 2)]
    assert selected == [{1: 10}] * TVI_VISITS_PER_PAGE_VISIT + [{}, {1: 10}]
    assert tvi_files.take_requested_pages(10) == [1]
    assert tvi_files.take_requested_pages(10) == []
    tvi_files.delete_pages([1])
    assert tvi_files.select_tvi_visits([1]) == {}
    db.close()
