"""Tests of volatile parts: a stored copy patched with the .tvi file equals the full page."""

import json
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.links import extract_metadata
from sanderling.html.parser import parse_html
from sanderling.publisher.volatile_files import build_tvi_file, extract_volatile_parts, list_page_paths, write_tvi_file
from sanderling.revisit import tvi

PAGE = (
    '<link rel="tvi" href="p.tvi"><!--Vol#price-->{}<!--/Vol#price--> of <Vol#name>{}</Vol#name>'
    " and <!-- Vol#n -->{}<!-- /Vol#n -->"
)


@given(st.text(alphabet="abc<>&é \n", max_size=20), st.text(alphabet="0123456789.", max_size=8))
def test_patched_copy_equals_the_full_page(name: str, price: str) -> None:
    full = PAGE.format(price, name, "3")
    table = tvi.parse_table(build_tvi_file(full).encode())
    assert table is not None
    assert tvi.patch_page(PAGE.format("1", "old", "2").encode(), table) == full.encode()


def test_publisher_and_crawler_find_the_same_parts() -> None:
    page = PAGE.format(1, "n", 2)
    assert extract_volatile_parts(page) == {"price": "1", "name": "n", "n": "2"}
    assert set(tvi.find_volatile_spans(page.encode())) == set(extract_volatile_parts(page))
    assert extract_metadata(parse_html(page.encode()), "https://x.org/p.html").tvi_url == "p.tvi"


def test_ambiguous_parts_are_ignored() -> None:
    twice = "<!--Vol#a-->1<!--/Vol#a--><!--Vol#a-->2<!--/Vol#a--><!--Vol#b-->3<!--/Vol#b-->"
    assert extract_volatile_parts(twice) == {"b": "3"}
    assert extract_volatile_parts("<!--/Vol#a--><!--Vol#b-->") == {}
    assert extract_volatile_parts("<!--Vol#a-->1<!--Vol#b-->2<!--/Vol#b--><!--/Vol#a-->") == {
        "a": "1<!--Vol#b-->2<!--/Vol#b-->"
    }


def test_unclosed_markers_take_linear_time() -> None:
    assert extract_volatile_parts("<!--Vol#a-->" * 50_000) == {}


def test_tvi_file_is_named_after_its_page() -> None:
    sides = {"/a/shares.html": "/a/shares.tvi", "/a/": "/a/index.tvi", "/plain": "/plain.tvi"}
    for path, side in sides.items():
        assert path in list_page_paths(side)


def test_tvi_files_are_written_next_to_pages_with_volatile_parts(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text(PAGE.format(1, 2, 3))
    os.chmod(page, 0o640)
    assert write_tvi_file(page)
    assert not write_tvi_file(page)  # unchanged
    assert json.loads((tmp_path / "p.tvi").read_text())["name"] == "2"
    assert (tmp_path / "p.tvi").stat().st_mode & 0o777 == 0o640
    (tmp_path / "q.html").write_text("nothing volatile")
    assert not write_tvi_file(tmp_path / "q.html")
    assert not write_tvi_file(tmp_path / "missing.html")
