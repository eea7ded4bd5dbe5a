"""The marks of one version of a page."""

import pytest

from sanderling.fingerprint import build
from sanderling.fingerprint.build import sign
from sanderling.fingerprint.model import Signature, is_current, read, write
from sanderling.html.parser import parse
from sanderling.html.text import dense, text, text_mark


def cheap(markup: str) -> bytes:
    return text_mark(dense(text(parse(markup.encode()))))


def test_blanks_attribute_order_and_entity_spelling_do_not_matter() -> None:
    one, two = (
        '<p class="a" id="b">caf&eacute; &amp; tea</p><p>two</p>',
        "<p  id=b class=a>caf\u00e9&nbsp; &#38; tea\n</p>\n<p>two</p>",
    )
    assert cheap(one) == cheap(two)
    assert sign(parse(one.encode())) == sign(parse(two.encode()))


def test_another_word_is_another_mark() -> None:
    assert cheap("<p>one") != cheap("<p>two")
    assert sign(parse(b"<p>one")).keys != sign(parse(b"<p>two")).keys


def test_a_full_mark_survives_packing() -> None:
    mark = sign(parse(b'<main><p>one <a href="/x">two</a><img src="/y"></p></main><script>a()</script>'))
    assert read(write(mark)) == mark


def test_a_full_mark_is_small() -> None:
    page = "<main>" + "".join(f"<p>Paragraph number {n} of a page that is quite long.</p>" for n in range(200))
    assert len(write(sign(parse(page.encode())))) < 2_500


def test_an_empty_page_has_a_mark_too() -> None:
    for body in (b"", b"<", b"<html>", b"\x00", b"<main></main>"):
        assert read(write(sign(parse(body)))) == sign(parse(body))


def test_a_mark_of_another_version_is_known_as_such() -> None:
    mark = write(sign(parse(b"<p>words")))
    assert is_current(mark)
    assert not is_current(b"")
    assert not is_current(mark[:3] + b"\x01" + mark[4:])


def test_many_bare_times_are_a_timetable_and_one_is_a_clock() -> None:
    def mark(*times: str) -> Signature:
        return sign(parse("".join(f"<p>{time}</p>" for time in times).encode()))

    assert mark("08:15").keys == mark("08:45").keys
    assert mark("08:15", "09:15", "10:15", "11:15").keys != mark("08:15", "09:15", "10:15", "11:45").keys


def test_blanks_of_every_kind_and_soft_hyphens_never_matter() -> None:
    def mark(words: str) -> Signature:
        return sign(parse(f"<p>{words}</p>".encode()))

    for blank in ("\u00a0", "\u202f", "\u2009", "\u3000", "\u200b", "\u00ad", "  "):
        assert mark(f"1{blank}000 euros") == mark("1000 euros")


def test_the_end_of_the_longest_page_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAX_LINES", 100)
    long = "<br>".join(f"line {n}" for n in range(200))
    assert sign(parse(f"{long}<br>end".encode())).keys != sign(parse(f"{long}<br>finish".encode())).keys


def test_links_of_a_main_part_inside_another_count_once() -> None:
    prose = "<p>" + "The tide comes in, and the tide goes out. " * 60 + "<a href=/x>more</a></p>"
    nested, plain = (sign(parse(f"<main><div{role}>{prose}</div></main>".encode())) for role in (" role=main", ""))
    assert nested.main_links == plain.main_links
