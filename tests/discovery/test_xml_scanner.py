"""A forgiving reader of XML."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.discovery.xml_scanner import MARKUP_LIMIT, XmlScanner, parse_attributes, unescape_xml


class Listener:
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def handle_start_tag(self, name: str, rest: str) -> None:
        self.heard.append(("open", name))

    def handle_end_tag(self, name: str) -> None:
        self.heard.append(("close", name))

    def handle_text(self, text: str) -> None:
        if self.heard and self.heard[-1][0] == "text":
            text = self.heard.pop()[1] + text
        self.heard.append(("text", text))

    def handle_whole_entry(self, buffer: str, position: int) -> int:
        return position


def _heard(*pieces: str) -> list[tuple[str, str]]:
    listener = Listener()
    scanner = XmlScanner(listener)
    for piece in pieces:
        scanner.feed(piece)
    return listener.heard


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("<a>b</a>", [("open", "a"), ("text", "b"), ("close", "a")]),
        ("<X:A b='>'/>", [("open", "a")]),
        ("<a b='c>d</a>", [("open", "a"), ("text", "d"), ("close", "a")]),
        ("<?xml version='1.0'?><!-- <a> --><a/>", [("open", "a")]),
        ("<!DOCTYPE a [<!ENTITY b '<c>'> <!ENTITY d SYSTEM 'file:///e'>] ><a/>", [("open", "a")]),
        ("<!doctype html><a/>", [("open", "a")]),
        ("<![CDATA[<a>&amp;]]>", [("text", "<a>&amp;amp;")]),
        ("1 < 2 <a>", [("text", "1 &lt; 2 "), ("open", "a")]),
        ("<!ELEMENT a><b>", [("open", "b")]),
        ("text", [("text", "text")]),
    ],
)
def test_tags_and_text_are_told_apart(text: str, heard: list[tuple[str, str]]) -> None:
    assert _heard(text) == heard


MIXED = (
    "<?xml?><!DOCTYPE a [ <!ENTITY x ']'> ]><u:A b=\"c>\">t &lt; <![CDATA[<&]]><!-- -- x --></u:A>"
    "<b/>1 < 2<c d='e>f</c><<<d>< <"
)


@given(st.lists(st.integers(0, len(MIXED)), max_size=12))
def test_how_the_text_is_cut_makes_no_difference(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(MIXED)]
    pieces = [MIXED[a:b] for a, b in pairwise(edges)]
    assert _heard(*pieces) == _heard(MIXED)


@pytest.mark.parametrize("start", ["<a ", "<![CDATA[", "<!--", "<?", "<!DOCTYPE a", "<!DOCTYPE a [", "<a b='"])
def test_what_never_ends_is_not_kept(start: str) -> None:
    listener = Listener()
    scanner = XmlScanner(listener)
    scanner.feed(start)
    for _ in range(20):
        scanner.feed("x" * (MARKUP_LIMIT // 4))
    assert len(scanner._buffer) <= MARKUP_LIMIT + len(start)


def test_entities_are_the_five_and_numbers_and_no_others() -> None:
    assert unescape_xml("&amp;&lt;&gt;&quot;&apos;&#65;&#x42;") == "&<>\"'AB"
    assert unescape_xml("&amp;amp;") == "&amp;"
    assert unescape_xml("&nbsp;&xxe;&#0;&#xD800;&#9999999;&") == "&nbsp;&xxe;\ufffd\ufffd\ufffd&"


def test_attributes_are_read_by_local_name() -> None:
    assert parse_attributes(" xml:HREF = \"a&amp;b\" rel='c' d=e") == {"href": "a&b", "rel": "c", "d": "e"}


@given(st.text(alphabet="<>!?-[]/'\"=&;ab CDATA", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    _heard(text)
