"""Volatile parts: an old copy patched with the side file equals the full download."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.publisher.volatile import page_paths, patch, side_file, side_path, values, write_beside

PAGE = "<title>x</title><!--vol price-->{}<!--/vol--> <!-- vol  name -->{}<!-- /vol --> <!--vol price-->{}<!--/vol-->"


@given(st.text(alphabet="abc<>&é \n", max_size=20), st.text(alphabet="0123456789.", max_size=8))
def test_the_patched_copy_equals_the_full_download(name: str, price: str) -> None:
    assert patch(PAGE.format("1", "old", "2"), side_file(PAGE.format(price, name, "3"))) == PAGE.format(
        price, name, "3"
    )


def test_the_same_name_twice_is_numbered() -> None:
    assert values(PAGE.format(1, "n", 2)) == {"price": "1", "name": "n", "price#2": "2"}


def test_a_page_whose_rest_changed_must_be_fetched() -> None:
    assert patch(PAGE.format(1, 2, 3), side_file(PAGE.format(1, 2, 3).replace("<title>x", "<title>y"))) is None


@pytest.mark.parametrize(
    "side",
    ["", "null", "[]", "{}", '{"skeleton": 1}', "[" * 100_000, '{"values": {"price": 1}}', "\0"],
)
def test_a_side_file_that_is_none_patches_nothing(side: str) -> None:
    assert patch(PAGE.format(1, 2, 3), side) is None


def test_values_that_would_move_other_parts_are_refused() -> None:
    told = json.loads(side_file(PAGE.format(1, 2, 3)))
    told["values"]["price"] = "<!--/vol--><script>"
    assert patch(PAGE.format(1, 2, 3), json.dumps(told)) is None


def test_marks_without_end_take_no_time() -> None:
    assert values("<!--vol a-->" * 50_000) == {}


def test_side_files_are_named_after_their_pages() -> None:
    assert side_path("/a/shares.html") == "/a/shares.tvi"
    assert side_path("/a/") == "/a/index.tvi"
    assert side_path("/plain") == "/plain.tvi"
    for path in ("/a/shares.html", "/a/", "/plain"):
        assert path in page_paths(side_path(path))


def test_side_files_are_written_beside_pages_that_have_parts(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text(PAGE.format(1, 2, 3))
    os.chmod(page, 0o640)
    assert write_beside(page)
    assert not write_beside(page)  # nothing new
    assert json.loads((tmp_path / "p.tvi").read_text())["values"]["name"] == "2"
    assert (tmp_path / "p.tvi").stat().st_mode & 0o777 == 0o640
    (tmp_path / "q.html").write_text("nothing volatile")
    assert not write_beside(tmp_path / "q.html")
    assert not write_beside(tmp_path / "missing.html")
