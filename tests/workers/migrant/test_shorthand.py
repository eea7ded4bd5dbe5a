"""Texts in shorthand: echoes, line breaks, words; each comes back as it was, and nothing grows beyond its limit."""

import random

import msgspec
import pytest

from sanderling.workers.migrant import echo, lines
from sanderling.workers.migrant.echo import Echo
from sanderling.workers.migrant.messages import PageMessage
from sanderling.workers.migrant.shorthand import Shorthand, escape, unescape
from sanderling.workers.migrant.slips import Slips, as_list
from sanderling.workers.migrant.words import MOST_WORDS, Words, choose

PROSE = b"""<p>
    The quick brown fox jumps over the lazy dog, and the dog
    looks on as the quick brown fox jumps over the next one that is
    lazy too.</p>
"""
LINKS = b"".join(b'<a href="/%b">%b</a>' % (word, word) for word in (b"one", b"two", b"three", b"four"))
FRAME = b"<nav>%b</nav>" % LINKS
FRAME += b'<div class="page main"><p class="first">'


def texts(count: int = 60) -> list[bytes]:
    """Bytes of every kind, in an order of their own."""
    draw = random.Random(7)
    kinds = [PROSE, FRAME, b"<\x03\x04\x05\x06\x07", "Käse “und” ☃".encode(), bytes(range(256)), b"<", b" \n  "]
    return [b"".join(draw.choices(kinds, k=draw.randint(0, 12))) for _ in range(count)]


def test_shorthand_is_read_as_it_was_written_whatever_the_bytes() -> None:
    pages = texts()
    writer, reader = Shorthand(), Shorthand()
    prepared = [writer.prepare(page) for page in pages]
    words = Words(choose(b"".join(prepared)))
    assert len(words.codes) > 20
    for at in range(0, len(pages), 10):
        short = writer.write(words, b"\x04list", prepared[at : at + 10])
        assert reader.read(words, short, 2**24) == (b"\x04list", pages[at : at + 10])


def test_lines_of_a_paragraph_become_one_and_break_again() -> None:
    joined = lines.join(PROSE)
    assert b"dog looks on" in joined
    assert b"is lazy too" in joined
    assert lines.split(joined, 1000) == PROSE


@pytest.mark.parametrize(
    "text", [b"for (i = 0; i < 100; i++) {\n    x += i;\n}", b"ends with a tag here <b>and here it is too</b>\nnext"]
)
def test_lines_that_no_editor_wrapped_stay(text: bytes) -> None:
    assert lines.join(text) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [(b"one two three\x03\x30", "no space"), (b"one two\x03\x1f", "no space"), (b" " * 65 + b"a b\x03!", "grows"),
     (b" " * 60 + b"a b c d e f g" + b"\x03" + b"!" * 6, "grows")],
)  # fmt: skip
def test_a_paragraph_that_nobody_wrote_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        lines.split(text, 200)


@pytest.mark.parametrize("frame", [FRAME, FRAME.replace(b">", b">\n")])
def test_what_came_before_is_sent_as_a_number(frame: bytes) -> None:
    writer, reader = Echo(), Echo()
    pages = [frame + b"<p>%d" % n for n in range(3)]
    short = [writer.shorten(page) for page in pages]
    assert len(short[0]) == len(pages[0])
    assert len(short[1]) < 20
    assert [reader.restore(part, 1000) for part in short] == pages


def test_both_sides_forget_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echo, "MOST", 16_000)
    writer, reader = Echo(), Echo()
    for n in range(100):
        page = FRAME * 2 + b"<p>%d" % n
        assert reader.restore(writer.shorten(page), 10_000) == page
        assert len(reader.next) == len(writer.next) < 250


def test_an_echo_of_nothing_or_without_an_end_is_refused() -> None:
    for mark in (b"\x07", b"\x07\x07"):
        reader = Echo()
        with pytest.raises(ValueError, match="echo"):
            reader.restore(mark + b"3", 1000)
        reader.next = {(b"", b""): b"", (b"", b"a"): b"a", (b"a", b"a"): b"a"}
        with pytest.raises(ValueError, match="echo"):
            reader.restore(mark + b"99999999", 1000)


def test_our_own_bytes_are_escaped_and_come_back() -> None:
    text = bytes(range(256)) * 3
    assert not set(escape(text)) & {3, 4, 5, 7, *range(14, 32)}
    assert unescape(escape(text)) == text
    with pytest.raises(ValueError, match="escape"):
        unescape(b"\x06z")


def test_words_of_other_scripts_have_codes_too() -> None:
    text = "Καλημέρα κόσμε, τι κάνεις σήμερα; ".encode() * 50
    words = Words(choose(text))
    assert len(words.shorten(text)) < 0.7 * len(text)
    assert words.restore(words.shorten(text), 2**20) == text


def test_a_dictionary_or_a_text_that_grows_too_much_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        Words([b"%d" % n for n in range(MOST_WORDS + 1)])
    for words, code in (([b"x" * 64], b"\x80"), ([b"<%b>" % (b"x" * 62)], b"\x0e")):
        with pytest.raises(ValueError, match="grows"):
            Words(words).restore(code * 500, 4000)
    for code in (b"\x81", b"\x0f"):
        with pytest.raises(ValueError, match="without a word"):
            Words([b"<tag>", b"word"]).restore(code, 4000)


def test_attributes_and_entities_are_words_too() -> None:
    text = b'<a title="one &quot;two&quot;" href="/">' * 50
    words = Words(choose(text))
    assert {b' title="', b' href="', b"&quot;"} <= set(words.codes)
    assert words.restore(words.shorten(text), 2**20) == text


def test_tags_may_fill_all_the_room_there_is() -> None:
    words, tag = Words([b"<%b>" % (b"x" * 30)]), b"<%b>" % (b"x" * 30)
    assert words.restore(b"\x0e" * 100, 3200) == tag * 100
    with pytest.raises(ValueError, match="grows"):
        words.restore(b"\x0e" * 100, 3199)


def test_a_tag_that_is_made_of_other_tags_is_none() -> None:
    chain = [b"<%b>" % (bytes((code + 1,)) * 40) for code in range(0x0E, 0x1E)]
    for code in (b"\x80", b"\x0e"):
        with pytest.raises(ValueError, match="without a word"):
            Words(chain).restore(code, 2**20)


def test_slips_and_pages_must_fit() -> None:
    with pytest.raises(ValueError, match="page without"):
        Slips().read(as_list([]), [b"page"])
    slip = Slips().write(PageMessage("/", 1, 1, b"", b"page", b""))
    with pytest.raises(ValueError, match="without its page"):
        Slips().read(as_list([slip, slip]), [b"page"])


def test_times_cannot_run_away() -> None:
    far = msgspec.msgpack.encode(PageMessage("/", 2**60, 1, b"", b"", b""))
    with pytest.raises(ValueError, match="another age"):
        Slips().read(as_list([far]), [b"page"])


def test_whatever_a_host_writes_is_read_or_refused() -> None:
    draw = random.Random(11)
    words = Words(choose(PROSE * 20))
    kinds = [b"\x03", b"\x04", b"\x05", b"\x06", b"\x07", b"\x079", b"\x07-1", b"<", b" ", b"!", b"a b", b"\n", b"\x0e",
             b"\xa8\x80", b"\xff\xff", b"\x06#", b"\x06\xff"]  # fmt: skip
    reader, read = Shorthand(), 0
    for _ in range(3000):
        try:
            read += sum(map(len, reader.read(words, b"".join(draw.choices(kinds, k=draw.randint(0, 30))), 5000)[1]))
        except ValueError:
            continue
    assert 0 < read < 3000 * 5000
