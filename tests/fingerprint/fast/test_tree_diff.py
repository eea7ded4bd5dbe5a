"""Where two trees differ, and which parts of a mark can see it."""

from dataclasses import dataclass
from typing import Any

import pytest

from sanderling.fingerprint.fast import tree_diff
from sanderling.fingerprint.fast.tree_diff import (
    ALL_PARTS,
    MAX_COMPARED_ELEMENTS,
    UNKNOWN_RANGE,
    DifferenceRange,
    FingerprintPart,
    diff_trees,
)
from sanderling.html.parser import parse_html

PAGE = (
    "<html><head><title>Birds</title><link rel=stylesheet href=/a.css><script>start();</script></head>"
    "<body><div><p class=first>Gulls <a href=/gull>on</a></p><img src=/gull.png><p>Terns</p></div>"
    "<pre>a\n b</pre><p>Waders</p></body></html>"
)


def parts(old: str, new: str, spots: DifferenceRange = UNKNOWN_RANGE) -> set[FingerprintPart]:
    mine, yours = (parse_html(page.encode(), "utf-8", positions=True) for page in (old, new))
    return diff_trees(mine, yours, len(old), spots).parts


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("Terns", "Skuas", {FingerprintPart.TEXT}),
        ("<p>Terns", "<p data-x=1><!-- x -->Terns", set()),
        ("a\n b", "a\n  b", {FingerprintPart.TEXT}),
        ("/gull>", "/tern>", {FingerprintPart.LINKS}),
        ("/gull.png", "/tern.png", {FingerprintPart.IMAGES}),
        ("class=first", "class=last", {FingerprintPart.STYLES}),
        ("<p>Terns", "<p>Skuas</p><p>Terns", {FingerprintPart.TEXT, FingerprintPart.STRUCTURE}),
        ("<p>Terns</p>", "<h2>Terns</h2>", {FingerprintPart.TEXT, FingerprintPart.STRUCTURE}),
        (
            "<p>Terns",
            "<p><a href=/b>Skuas</a></p><p>Terns",
            {FingerprintPart.TEXT, FingerprintPart.STRUCTURE, FingerprintPart.LINKS},
        ),
        ("<p>Terns", "<p onfocus='go()'>Terns", {FingerprintPart.HANDLERS}),
        ("<p>Terns", "<p onclick='go()'>Terns", ALL_PARTS),
        (">Birds<", ">Beasts<", {FingerprintPart.TEXT, FingerprintPart.TITLE}),
        ("<p>Terns", "<aside>x</aside><p>Terns", ALL_PARTS),
        ("<p>Terns", "<p hidden>Terns", ALL_PARTS),
        ("<p>Terns", "<p id=menu>Terns", ALL_PARTS),
        ("/a.css", "/b.css", {FingerprintPart.STYLES}),
        ("/a.css", "/a.css?v=2", set()),
        ("<head>", "<head><meta name=x><link rel=next href=/n>", set()),
    ],
)
def test_only_the_parts_that_see_a_difference_are_named(old: str, new: str, seen: set[FingerprintPart]) -> None:
    other = PAGE.replace(old, new)
    assert parts(PAGE, other) == seen
    assert parts(other, PAGE) == seen


def test_scripts_that_differ_are_listed() -> None:
    old, new = (parse_html(page.encode(), "utf-8") for page in (PAGE, PAGE.replace("start", "stop")))
    found = diff_trees(old, new, len(PAGE))
    assert [script.text for script in found.removed_scripts] == ["start();"]
    assert [script.text for script in found.added_scripts] == ["stop();"]
    assert not found.parts


def test_what_only_moved_on_is_not_looked_into() -> None:
    rows = "".join(f"<div><img src=/{number}.png></div>" for number in range(50))
    page = f"<main>{rows}</main><p>End</p>"
    for new in (f"<main><p>New</p>{rows}<p>Last</p></main><p>End.</p>", f"<main>{rows[33:]}</main><p>End.</p>"):
        assert FingerprintPart.FORMS not in parts(page, new)
    assert FingerprintPart.IMAGES not in parts(page, f"<main><p>New</p>{rows}<p>Last</p></main><p>End.</p>")


def test_where_very_much_differs_everything_does() -> None:
    old, new = ("".join(f"<p>{word}</p>" for _ in range(MAX_COMPARED_ELEMENTS + 1)) for word in ("a", "b"))
    assert parts(old, new) == ALL_PARTS


@pytest.mark.parametrize("line", [1, 3, 99])
def test_a_hint_that_is_wrong_does_no_harm(line: int) -> None:
    page = "<div>\n<p>Gulls</p>\n<p>Terns</p>\n</div>\n<p>Waders</p>"
    assert parts(page, page.replace("Terns", "Skuas"), DifferenceRange((line, 0), (line, 9))) == {FingerprintPart.TEXT}
    assert parts(page, page, DifferenceRange((line, 0), (line, 9))) == set()


class Piece(str):
    """A text that may be joined with all others at once, not with one of them."""

    def __format__(self, _: str) -> str:
        raise AssertionError("written into another text")

    def __add__(self, _: str) -> str:
        raise AssertionError("added to")


@dataclass
class Words:
    """A node of text."""

    data: str


def test_texts_in_a_row_are_joined_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_diff, "Text", Words)
    nodes: list[Any] = [Words(Piece("a")), Words(Piece("b")), parse_html(b"<p>x").find("p"), Words(Piece("c"))]
    kept = tree_diff._read_siblings(nodes, parse_html(b"")).nodes
    assert [kept[0], kept[2]] == ["ab", "c"]


def test_once_enough_is_known_it_is_looked_no_further() -> None:
    old, new = "<p>a</p><p>b</p><img src=a>" * 9, "<p>a</p><div>b</div><img src=b>" * 9
    before, after = (parse_html(markup.encode()) for markup in (old, new))
    whole, enough = (
        diff_trees(before, after, 1_000),
        diff_trees(before, after, 1_000, stop_parts={FingerprintPart.STRUCTURE}),
    )
    assert FingerprintPart.STRUCTURE in whole.parts & enough.parts
    assert enough.remaining_elements > whole.remaining_elements
    assert diff_trees(before, parse_html(old.encode()), 1_000, stop_parts={FingerprintPart.STRUCTURE}).parts == set()
