"""Tests of text rendering and normalization."""

from time import process_time
from typing import Any
from unicodedata import is_normalized

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.content.extract import extract_blocks
from sanderling.html.parser import parse_html
from sanderling.html.text import get_element_text, normalize_text, render_text


def lines(markup: str) -> list[str]:
    return [line.strip() for line in render_text(parse_html(markup.encode())).split("\n") if line.strip()]


def test_each_block_is_a_line() -> None:
    assert lines("<h1>A</h1><p>b <b>c</b></p>d<ul><li>e<li>f</ul>") == ["A", "b c", "d", "e", "f"]


def test_invisible_elements_are_excluded() -> None:
    assert lines("<title>t</title><style>p{}</style><script>x()</script><template>u</template><p>seen") == ["seen"]


def test_blocks_in_table_cells_are_separate_lines() -> None:
    page = "<table><tr><td>menu<br>two<p>three</td><td><p>four</p><p>five</p></td></tr></table>"
    assert lines(page) == ["menu", "two", "three", "four", "five"]


def test_blocks_in_forms_are_separate_lines() -> None:
    assert lines("a<form><p>€ 5.95</p><label>Quantity</label></form>b") == ["a", "€ 5.95", "Quantity", "b"]


def test_list_text_is_complete_and_not_numbered() -> None:
    assert lines("<ul><p>one</p>two<li>three</li></ul><ol><li>four</ol>") == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a href=x><div>Title</div><span>Author</span></a>", ["Title", "Author"]),
        ("<li><a href=x><h3>Title</h3>words</a> more", ["Title", "words", "more"]),
        ("<span><b><p>one</p></b>two</span>", ["one", "two"]),
        ("<font><p>one</p>two<br>three</font>", ["one", "two", "three"]),
        ("a <a href=x><span>b</span></a> c", ["a b c"]),
        ("one<form><p>two</p>three</form>four", ["one", "two", "three", "four"]),
        ("show<select><option>10<option>25</select>entries", ["show", "10", "25", "entries"]),
        ("<center>one</center><center>two</center>", ["one", "two"]),
        ("<hgroup><h1>one</h1></hgroup>two<search>three</search>four", ["one", "two", "three", "four"]),
        ("<menu><a href=x>one</a><li>two</menu>", ["one", "two"]),
    ],
)
def test_end_of_block_ends_line_in_any_element(markup: str, expected: list[str]) -> None:
    assert lines(markup) == expected


def test_rendering_does_not_change_tree() -> None:
    tree = parse_html(b"<table><tr><th>a<td>b</table><form><a><p>c</p>d</a><select><option>e</select></form>")
    before = tree.html
    render_text(tree)
    assert tree.html == before


def test_typographic_variants_are_normalized() -> None:
    assert normalize_text("The \u201ccarrier\u201d isn\u2019t\u2026") == normalize_text('The "carrier" isn\'t...')
    assert normalize_text("Cafe\u0301 \u2014 open") == normalize_text("Caf\u00e9 - open")
    assert normalize_text("Fees \u00b6\n# Refunds\nBaggage#") == normalize_text("Fees\nRefunds\nBaggage")
    assert normalize_text("a#b") != normalize_text("ab")
    assert normalize_text("FEES #\n#") == normalize_text("FEES\n")
    assert normalize_text("Java and C#") != normalize_text("Java and C")
    assert normalize_text("F#\nG") != normalize_text("F\nG")
    assert normalize_text("60 \u20ac") != normalize_text("60 $")


def test_direction_marks_and_variation_selectors_are_removed() -> None:
    assert normalize_text("שלום \u2068test\u2069 \u202b(x)\u202c") == normalize_text("שלום test (x)")
    assert normalize_text("Love \u2764\ufe0f") == normalize_text("Love \u2764")


def test_icon_font_characters_are_removed() -> None:
    assert normalize_text("Fees \uf0c1\nNext \ue5c8") == normalize_text("Fees \u00b6\nNext")
    assert normalize_text("\uf900") != b""
    assert normalize_text("Fees \U000f0001 \U0010fffd") == b"Fees"
    assert normalize_text("\ueffe\uf8ff\uff01\U000e0100") == "\uff01\U000e0100".encode()


def test_normalizing_many_icons_is_fast() -> None:
    icons = "".join(map(chr, range(0xE000, 0xF900)))
    start = process_time()
    assert normalize_text(icons * 150 + "x") == b"x"
    assert process_time() - start < 5  # seconds; replacing characters separately took 15


def test_lines_are_normalized_independently() -> None:
    lines = ["## a", "#", "b #", "c\u2013d", "", "\u0301e#", "ten \u2126 of \uf900", "Caf\u00e9", "e\u0301"]
    assert normalize_text("\n".join(lines)).split(b"\n") == [normalize_text(line) for line in lines]


@given(st.text(st.sampled_from("aeK\n#\u00e9\u0301\u0323\u0327\u0915\u093c\u1100\u1161\u2126\u212a\uf900")))
def test_normalized_text_is_nfc(text: str) -> None:
    normalized = normalize_text(text)
    assert is_normalized("NFC", normalized.decode())
    assert normalized.split(b"\n") == [normalize_text(line) for line in text.split("\n")]


def test_element_text_excludes_scripts() -> None:
    page = b"<p>a<b> b<script>x()</script></b><style>p{}</style><svg><title>c</title></svg><i><title>t</title> d</i>"
    element = parse_html(page).find("p")
    assert element is not None
    assert get_element_text(element) == "a bc d"


class FailingTree:
    """A tree with an attribute that raises."""

    def __init__(self, tree: Any, failing_attribute: str) -> None:
        self._tree = tree
        self._failing_attribute = failing_attribute

    def __getattr__(self, name: str) -> Any:
        if name == self._failing_attribute:
            raise RuntimeError(name)
        return getattr(self._tree, name)


@pytest.mark.parametrize(
    ("render", "failing_attribute"), [(render_text, "to_text"), (extract_blocks, "to_annotated_text")]
)
def test_failed_rendering_does_not_change_tree(render: Any, failing_attribute: str) -> None:
    tree = parse_html(b"<table><tr><th hidden>a<td>b</table>")
    before = tree.html
    with pytest.raises(RuntimeError):
        render(FailingTree(tree, failing_attribute))
    assert tree.html == before
