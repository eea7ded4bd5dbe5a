"""The mark of a page made from that of its last version."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sanderling.pages.again import NO_TABLE, renew, sign_again
from sanderling.pages.parse import parse
from sanderling.pages.signatures import Signature, sign, write

TEXT = "Sanderlings run along the edge of the waves and pick up what the water leaves behind, number {0}."


def page(paragraphs: list[str], foot: str = "Rendered in a hurry", more: str = "") -> bytes:
    blocks = "\n".join(
        f'<div class="part"><h2>Part {number}</h2>\n<p>{text} <a href="/b/{number}">on</a></p></div>'
        for number, text in enumerate(paragraphs)
    )
    return (
        f"<html><head><title>Birds</title><script>start();</script></head><body><nav><a href='/'>Home</a></nav>\n"
        f"<main>{blocks}{more}</main>\n<footer>{foot}</footer></body></html>"
    ).encode()


PAGE = page([TEXT.format(number) for number in range(20)])


def prepared(body: bytes) -> Signature:
    """The mark of a page that changed twice."""
    return sign_again(parse(body), body, write(sign(parse(body))))


def again(old: bytes, new: bytes) -> Signature | None:
    return renew(prepared(old), new, parse(new))


def in_full(body: bytes) -> Signature:
    return sign(parse(body))


def alike(one: Signature, other: Signature) -> bool:
    """Say whether two marks are one but for their tables, and for the hash that only says that text differs."""
    return structs.replace(one, again=b"", text=0) == structs.replace(other, again=b"", text=0)


def test_other_words_give_the_mark_that_marking_in_full_gives() -> None:
    new = PAGE.replace(b"number 7", b"numeral 7")
    mark = again(PAGE, new)
    assert mark is not None
    assert alike(mark, in_full(new))
    assert mark.keys != prepared(PAGE).keys
    assert mark.text != prepared(PAGE).text


def test_a_mark_made_from_another_serves_the_next() -> None:
    mark: Signature | None = prepared(PAGE)
    for number in range(5):
        body = PAGE.replace(b"in a hurry", f"in {number} hurries".encode())
        assert mark is not None
        mark = renew(mark, body, parse(body))
        assert mark is not None
        assert alike(mark, in_full(body))


def test_another_token_leaves_the_mark_as_it_was() -> None:
    old, new = (PAGE.replace(b"<nav>", b'<form><input name="csrf" value="%d"></form><nav>' % token) for token in (1, 2))
    mark = again(old, new)
    assert mark is not None
    assert structs.replace(mark, again=b"") == structs.replace(prepared(old), again=b"")


def test_another_frame_is_marked_in_full() -> None:
    for old, new in (
        (b"/b/7", b"/c/7"),
        (b"<h2>Part 7</h2>", b"<h3>Part 7</h3>"),
        (b'"part"', b'"section"'),
        (b"start();", b"if (x) { stop([]); }"),
        (b"<h2>Part 7</h2>", b"<h2>Part 7</h2><p>A new one.</p>"),
        (b"<h2>Part 7</h2>", b"<h2>Part 7</h2><img src='/gull.png'>"),
    ):
        assert again(PAGE, PAGE.replace(old, new, 1)) is None


def test_text_that_could_move_the_main_content_is_marked_in_full() -> None:
    assert again(PAGE, PAGE.replace(b"in a hurry", b"slowly " * 2_000)) is None


def test_a_page_gets_its_table_when_it_was_seen_to_change_a_little() -> None:
    first = sign_again(parse(PAGE), PAGE, b"")
    assert first.again == b""
    assert len(sign_again(parse(PAGE), PAGE, write(first)).again) > len(NO_TABLE)


def test_a_table_is_made_only_for_pages_that_change_just_a_little() -> None:
    other = page([TEXT.format(number) for number in range(30)])
    mark = sign_again(parse(other), other, write(prepared(PAGE)))
    assert mark.again == b""
    assert alike(mark, in_full(other))


def test_a_page_without_a_table_is_not_asked_for_one_again() -> None:
    mark = structs.replace(in_full(PAGE), again=NO_TABLE)
    assert sign_again(parse(PAGE), PAGE, write(mark)).again == NO_TABLE


def test_a_page_whose_markup_says_other_than_its_tree_has_no_table() -> None:
    body = PAGE.replace(b"<main>", b"<table><tr><td>in it</td></tr><p>out of it</p></table><main>")
    assert prepared(body).again == NO_TABLE


EDITS = st.lists(
    st.tuples(st.integers(0, 19), st.text(alphabet="abc 12:.\u00e9\u00a0&;<>\n", max_size=60)), min_size=1, max_size=4
)


@given(edits=EDITS)
def test_a_mark_made_from_another_is_never_wrong(edits: list[tuple[int, str]]) -> None:
    texts = [TEXT.format(number) for number in range(20)]
    for place, text in edits:
        texts[place] = text
    new = page(texts)
    mark = again(PAGE, new)
    assert mark is None or alike(mark, in_full(new))
