from dataclasses import dataclass
from typing import Any

import pytest

from sanderling.fingerprint.fast import tree_diff
from sanderling.fingerprint.fast.fingerprint_parts import ALL_PARTS, FingerprintPart
from sanderling.fingerprint.fast.tree_diff import (
    MAX_COMPARED_ELEMENTS,
    UNKNOWN_RANGE,
    DifferenceRange,
    diff_trees,
)
from sanderling.html.parser import parse_html

PAGE = (
    "<html><head><title>Birds</title><link rel=stylesheet href=/a.css><script>start();</script></head>"
    "<body><div><p class=first>Gulls <a href=/gull>on</a></p><img src=/gull.png><p>Terns</p></div>"
    "<pre>a\n b</pre><p>Waders</p></body></html>"
)


def find_parts(old: str, new: str, difference_range: DifferenceRange = UNKNOWN_RANGE) -> set[FingerprintPart]:
    old_tree, new_tree = (parse_html(page.encode(), "utf-8", positions=True) for page in (old, new))
    return diff_trees(old_tree, new_tree, len(old), difference_range).parts


@pytest.mark.parametrize(
    ("old", "new", "affected"),
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
def test_only_affected_parts_are_found(old: str, new: str, affected: set[FingerprintPart]) -> None:
    other = PAGE.replace(old, new)
    assert find_parts(PAGE, other) == affected
    assert find_parts(other, PAGE) == affected


def test_changed_scripts_are_listed() -> None:
    old, new = (parse_html(page.encode(), "utf-8") for page in (PAGE, PAGE.replace("start", "stop")))
    found = diff_trees(old, new, len(PAGE))
    assert [script.text for script in found.removed_scripts] == ["start();"]
    assert [script.text for script in found.added_scripts] == ["stop();"]
    assert not found.parts


def test_shifted_siblings_are_not_compared() -> None:
    rows = "".join(f"<div><img src=/{number}.png></div>" for number in range(50))
    page = f"<main>{rows}</main><p>End</p>"
    for new in (f"<main><p>New</p>{rows}<p>Last</p></main><p>End.</p>", f"<main>{rows[33:]}</main><p>End.</p>"):
        assert FingerprintPart.FORMS not in find_parts(page, new)
    assert FingerprintPart.IMAGES not in find_parts(page, f"<main><p>New</p>{rows}<p>Last</p></main><p>End.</p>")


def test_all_parts_are_affected_beyond_the_budget() -> None:
    old, new = ("".join(f"<p>{word}</p>" for _ in range(MAX_COMPARED_ELEMENTS + 1)) for word in ("a", "b"))
    assert find_parts(old, new) == ALL_PARTS


@pytest.mark.parametrize("line", [1, 3, 99])
def test_wrong_hint_does_not_change_the_result(line: int) -> None:
    page = "<div>\n<p>Gulls</p>\n<p>Terns</p>\n</div>\n<p>Waders</p>"
    assert find_parts(page, page.replace("Terns", "Skuas"), DifferenceRange((line, 0), (line, 9))) == {
        FingerprintPart.TEXT
    }
    assert find_parts(page, page, DifferenceRange((line, 0), (line, 9))) == set()


class JoinOnlyText(str):
    """A text that allows only join(), not repeated concatenation."""

    def __format__(self, _: str) -> str:
        raise AssertionError("formatted")

    def __add__(self, _: str) -> str:
        raise AssertionError("concatenated")


@dataclass
class FakeText:
    data: str


def test_adjacent_texts_are_joined_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_diff, "Text", FakeText)
    nodes: list[Any] = [
        FakeText(JoinOnlyText("a")),
        FakeText(JoinOnlyText("b")),
        parse_html(b"<p>x").find("p"),
        FakeText(JoinOnlyText("c")),
    ]
    nodes_read = tree_diff._read_siblings(nodes, parse_html(b"")).nodes
    assert [nodes_read[0], nodes_read[2]] == ["ab", "c"]


def test_comparison_stops_at_stop_parts() -> None:
    old, new = "<p>a</p><p>b</p><img src=a>" * 9, "<p>a</p><div>b</div><img src=b>" * 9
    before, after = (parse_html(markup.encode()) for markup in (old, new))
    whole, stopped = (
        diff_trees(before, after, 1_000),
        diff_trees(before, after, 1_000, stop_parts={FingerprintPart.STRUCTURE}),
    )
    assert FingerprintPart.STRUCTURE in whole.parts & stopped.parts
    assert stopped.remaining_elements > whole.remaining_elements
    assert diff_trees(before, parse_html(old.encode()), 1_000, stop_parts={FingerprintPart.STRUCTURE}).parts == set()
