"""Volatile parts: an old copy patched with the side file equals the full download."""

import json
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.links import extract
from sanderling.html.parser import parse
from sanderling.publisher.volatile_files import page_paths, side_file, values, write_beside
from sanderling.revisit import tvi

PAGE = (
    '<link rel="tvi" href="p.tvi"><!--Vol#price-->{}<!--/Vol#price--> of <Vol#name>{}</Vol#name>'
    " and <!-- Vol#n -->{}<!-- /Vol#n -->"
)


@given(st.text(alphabet="abc<>&é \n", max_size=20), st.text(alphabet="0123456789.", max_size=8))
def test_the_patched_copy_equals_the_full_download(name: str, price: str) -> None:
    full = PAGE.format(price, name, "3")
    table = tvi.read_table(side_file(full).encode())
    assert table is not None
    assert tvi.patch(PAGE.format("1", "old", "2").encode(), table) == full.encode()


def test_both_ends_find_the_same_parts() -> None:
    page = PAGE.format(1, "n", 2)
    assert values(page) == {"price": "1", "name": "n", "n": "2"}
    assert set(tvi.volatile_parts(page.encode())) == set(values(page))
    assert extract(parse(page.encode()), "https://x.org/p.html").side == "p.tvi"


def test_what_says_nothing_sure_is_left_out() -> None:
    twice = "<!--Vol#a-->1<!--/Vol#a--><!--Vol#a-->2<!--/Vol#a--><!--Vol#b-->3<!--/Vol#b-->"
    assert values(twice) == {"b": "3"}
    assert values("<!--/Vol#a--><!--Vol#b-->") == {}
    assert values("<!--Vol#a-->1<!--Vol#b-->2<!--/Vol#b--><!--/Vol#a-->") == {"a": "1<!--Vol#b-->2<!--/Vol#b-->"}


def test_marks_without_end_take_no_time() -> None:
    assert values("<!--Vol#a-->" * 50_000) == {}


def test_side_files_are_named_after_their_pages() -> None:
    sides = {"/a/shares.html": "/a/shares.tvi", "/a/": "/a/index.tvi", "/plain": "/plain.tvi"}
    for path, side in sides.items():
        assert path in page_paths(side)


def test_side_files_are_written_beside_pages_that_have_parts(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text(PAGE.format(1, 2, 3))
    os.chmod(page, 0o640)
    assert write_beside(page)
    assert not write_beside(page)  # nothing new
    assert json.loads((tmp_path / "p.tvi").read_text())["name"] == "2"
    assert (tmp_path / "p.tvi").stat().st_mode & 0o777 == 0o640
    (tmp_path / "q.html").write_text("nothing volatile")
    assert not write_beside(tmp_path / "q.html")
    assert not write_beside(tmp_path / "missing.html")
