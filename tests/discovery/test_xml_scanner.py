"""Lenient XML scanner."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.discovery.xml_scanner import MARKUP_LIMIT, XmlScanner, parse_attributes, unescape_xml


class RecordingHandler:
    """Records the events of a scanner."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []

    def handle_start_tag(self, name: str, attributes_text: str) -> None:
        self.events.append(("open", name))

    def handle_end_tag(self, name: str) -> None:
        self.events.append(("close", name))

    def handle_text(self, text: str) -> None:
        if self.events and self.events[-1][0] == "text":
            text = self.events.pop()[1] + text
        self.events.append(("text", text))

    def handle_whole_entry(self, buffer: str, position: int) -> int:
        return position


def _scan(*chunks: str) -> list[tuple[str, str]]:
    handler = RecordingHandler()
    scanner = XmlScanner(handler)
    for chunk in chunks:
        scanner.feed(chunk)
    return handler.events


@pytest.mark.parametrize(
    ("text", "events"),
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
def test_text_is_split_into_tags_and_character_data(text: str, events: list[tuple[str, str]]) -> None:
    assert _scan(text) == events


MIXED = (
    "<?xml?><!DOCTYPE a [ <!ENTITY x ']'> ]><u:A b=\"c>\">t &lt; <![CDATA[<&]]><!-- -- x --></u:A>"
    "<b/>1 < 2<c d='e>f</c><<<d>< <"
)


@given(st.lists(st.integers(0, len(MIXED)), max_size=12))
def test_result_does_not_depend_on_chunk_boundaries(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(MIXED)]
    chunks = [MIXED[a:b] for a, b in pairwise(edges)]
    assert _scan(*chunks) == _scan(MIXED)


@pytest.mark.parametrize("start", ["<a ", "<![CDATA[", "<!--", "<?", "<!DOCTYPE a", "<!DOCTYPE a [", "<a b='"])
def test_endless_markup_is_not_buffered(start: str) -> None:
    handler = RecordingHandler()
    scanner = XmlScanner(handler)
    scanner.feed(start)
    for _ in range(20):
        scanner.feed("x" * (MARKUP_LIMIT // 4))
    assert len(scanner._buffer) <= MARKUP_LIMIT + len(start)


def test_only_predefined_entities_and_character_references_are_resolved() -> None:
    assert unescape_xml("&amp;&lt;&gt;&quot;&apos;&#65;&#x42;") == "&<>\"'AB"
    assert unescape_xml("&amp;amp;") == "&amp;"
    assert unescape_xml("&nbsp;&xxe;&#0;&#xD800;&#9999999;&") == "&nbsp;&xxe;\ufffd\ufffd\ufffd&"


def test_attributes_are_read_by_local_name() -> None:
    assert parse_attributes(" xml:HREF = \"a&amp;b\" rel='c' d=e") == {"href": "a&b", "rel": "c", "d": "e"}


@given(st.text(alphabet="<>!?-[]/'\"=&;ab CDATA", max_size=60))
def test_arbitrary_text_raises_no_exception(text: str) -> None:
    _scan(text)
