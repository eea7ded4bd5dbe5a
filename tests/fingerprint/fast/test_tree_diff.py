"""Where two trees differ, and which parts of a mark can see it."""

from dataclasses import dataclass
from typing import Any

import pytest

from sanderling.fingerprint.fast import tree_diff
from sanderling.fingerprint.fast.tree_diff import ALL, MAX_ELEMENTS, NOWHERE, Part, Spots, look
from sanderling.html.parser import parse

PAGE = (
    "<html><head><title>Birds</title><link rel=stylesheet href=/a.css><script>start();</script></head>"
    "<body><div><p class=first>Gulls <a href=/gull>on</a></p><img src=/gull.png><p>Terns</p></div>"
    "<pre>a\n b</pre><p>Waders</p></body></html>"
)


def parts(old: str, new: str, spots: Spots = NOWHERE) -> set[Part]:
    mine, yours = (parse(page.encode(), "utf-8", positions=True) for page in (old, new))
    return look(mine, yours, len(old), spots).parts


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("Terns", "Skuas", {Part.WORDS}),
        ("<p>Terns", "<p data-x=1><!-- x -->Terns", set()),
        ("a\n b", "a\n  b", {Part.WORDS}),
        ("/gull>", "/tern>", {Part.LINKS}),
        ("/gull.png", "/tern.png", {Part.IMAGES}),
        ("class=first", "class=last", {Part.LOOKS}),
        ("<p>Terns", "<p>Skuas</p><p>Terns", {Part.WORDS, Part.STRUCTURE}),
        ("<p>Terns</p>", "<h2>Terns</h2>", {Part.WORDS, Part.STRUCTURE}),
        ("<p>Terns", "<p><a href=/b>Skuas</a></p><p>Terns", {Part.WORDS, Part.STRUCTURE, Part.LINKS}),
        ("<p>Terns", "<p onfocus='go()'>Terns", {Part.HANDLERS}),
        ("<p>Terns", "<p onclick='go()'>Terns", ALL),
        (">Birds<", ">Beasts<", {Part.WORDS, Part.TITLE}),
        ("<p>Terns", "<aside>x</aside><p>Terns", ALL),
        ("<p>Terns", "<p hidden>Terns", ALL),
        ("<p>Terns", "<p id=menu>Terns", ALL),
        ("/a.css", "/b.css", {Part.LOOKS}),
        ("/a.css", "/a.css?v=2", set()),
        ("<head>", "<head><meta name=x><link rel=next href=/n>", set()),
    ],
)
def test_only_the_parts_that_see_a_difference_are_named(old: str, new: str, seen: set[Part]) -> None:
    other = PAGE.replace(old, new)
    assert parts(PAGE, other) == seen
    assert parts(other, PAGE) == seen


def test_scripts_that_differ_are_listed() -> None:
    old, new = (parse(page.encode(), "utf-8") for page in (PAGE, PAGE.replace("start", "stop")))
    found = look(old, new, len(PAGE))
    assert [script.text for script in found.gone] == ["start();"]
    assert [script.text for script in found.come] == ["stop();"]
    assert not found.parts


def test_what_only_moved_on_is_not_looked_into() -> None:
    rows = "".join(f"<div><img src=/{number}.png></div>" for number in range(50))
    page = f"<main>{rows}</main><p>End</p>"
    for new in (f"<main><p>New</p>{rows}<p>Last</p></main><p>End.</p>", f"<main>{rows[33:]}</main><p>End.</p>"):
        assert Part.FORMS not in parts(page, new)
    assert Part.IMAGES not in parts(page, f"<main><p>New</p>{rows}<p>Last</p></main><p>End.</p>")


def test_where_very_much_differs_everything_does() -> None:
    old, new = ("".join(f"<p>{word}</p>" for _ in range(MAX_ELEMENTS + 1)) for word in ("a", "b"))
    assert parts(old, new) == ALL


@pytest.mark.parametrize("line", [1, 3, 99])
def test_a_hint_that_is_wrong_does_no_harm(line: int) -> None:
    page = "<div>\n<p>Gulls</p>\n<p>Terns</p>\n</div>\n<p>Waders</p>"
    assert parts(page, page.replace("Terns", "Skuas"), Spots((line, 0), (line, 9))) == {Part.WORDS}
    assert parts(page, page, Spots((line, 0), (line, 9))) == set()


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
    nodes: list[Any] = [Words(Piece("a")), Words(Piece("b")), parse(b"<p>x").find("p"), Words(Piece("c"))]
    kept = tree_diff._read(nodes, parse(b"")).nodes
    assert [kept[0], kept[2]] == ["ab", "c"]


def test_once_enough_is_known_it_is_looked_no_further() -> None:
    old, new = "<p>a</p><p>b</p><img src=a>" * 9, "<p>a</p><div>b</div><img src=b>" * 9
    before, after = (parse(markup.encode()) for markup in (old, new))
    whole, enough = look(before, after, 1_000), look(before, after, 1_000, until={Part.STRUCTURE})
    assert Part.STRUCTURE in whole.parts & enough.parts
    assert enough.left > whole.left
    assert look(before, parse(old.encode()), 1_000, until={Part.STRUCTURE}).parts == set()
