"""The marks of one version of a page."""

import pytest

from sanderling.fingerprint import build
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.model import Fingerprint, decode_fingerprint, encode_fingerprint, is_current_fingerprint
from sanderling.html.parser import parse_html
from sanderling.html.text import compact_text, hash_text, render_text


def cheap(markup: str) -> bytes:
    return hash_text(compact_text(render_text(parse_html(markup.encode()))))


def test_blanks_attribute_order_and_entity_spelling_do_not_matter() -> None:
    one, two = (
        '<p class="a" id="b">caf&eacute; &amp; tea</p><p>two</p>',
        "<p  id=b class=a>caf\u00e9&nbsp; &#38; tea\n</p>\n<p>two</p>",
    )
    assert cheap(one) == cheap(two)
    assert fingerprint_page(parse_html(one.encode())) == fingerprint_page(parse_html(two.encode()))


def test_another_word_is_another_mark() -> None:
    assert cheap("<p>one") != cheap("<p>two")
    assert fingerprint_page(parse_html(b"<p>one")).block_hashes != fingerprint_page(parse_html(b"<p>two")).block_hashes


def test_a_full_mark_survives_packing() -> None:
    mark = fingerprint_page(
        parse_html(b'<main><p>one <a href="/x">two</a><img src="/y"></p></main><script>a()</script>')
    )
    assert decode_fingerprint(encode_fingerprint(mark)) == mark


def test_a_full_mark_is_small() -> None:
    page = "<main>" + "".join(f"<p>Paragraph number {n} of a page that is quite long.</p>" for n in range(200))
    assert len(encode_fingerprint(fingerprint_page(parse_html(page.encode())))) < 2_500


def test_an_empty_page_has_a_mark_too() -> None:
    for body in (b"", b"<", b"<html>", b"\x00", b"<main></main>"):
        assert decode_fingerprint(encode_fingerprint(fingerprint_page(parse_html(body)))) == fingerprint_page(
            parse_html(body)
        )


def test_a_mark_of_another_version_is_known_as_such() -> None:
    mark = encode_fingerprint(fingerprint_page(parse_html(b"<p>words")))
    assert is_current_fingerprint(mark)
    assert not is_current_fingerprint(b"")
    assert not is_current_fingerprint(mark[:3] + b"\x01" + mark[4:])


def test_many_bare_times_are_a_timetable_and_one_is_a_clock() -> None:
    def mark(*times: str) -> Fingerprint:
        return fingerprint_page(parse_html("".join(f"<p>{time}</p>" for time in times).encode()))

    assert mark("08:15").block_hashes == mark("08:45").block_hashes
    assert (
        mark("08:15", "09:15", "10:15", "11:15").block_hashes != mark("08:15", "09:15", "10:15", "11:45").block_hashes
    )


def test_blanks_of_every_kind_and_soft_hyphens_never_matter() -> None:
    def mark(words: str) -> Fingerprint:
        return fingerprint_page(parse_html(f"<p>{words}</p>".encode()))

    for blank in ("\u00a0", "\u202f", "\u2009", "\u3000", "\u200b", "\u00ad", "  "):
        assert mark(f"1{blank}000 euros") == mark("1000 euros")


def test_the_end_of_the_longest_page_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAX_LINES", 100)
    long = "<br>".join(f"line {n}" for n in range(200))
    assert (
        fingerprint_page(parse_html(f"{long}<br>end".encode())).block_hashes
        != fingerprint_page(parse_html(f"{long}<br>finish".encode())).block_hashes
    )


def test_links_of_a_main_part_inside_another_count_once() -> None:
    prose = "<p>" + "The tide comes in, and the tide goes out. " * 60 + "<a href=/x>more</a></p>"
    nested, plain = (
        fingerprint_page(parse_html(f"<main><div{role}>{prose}</div></main>".encode())) for role in (" role=main", "")
    )
    assert nested.main_links == plain.main_links
