"""The mark of a page made from that of its last version."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sanderling.pages.again import NO_TABLE, TO_PREPARE, in_brief, renew, sign_again
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
    return sign_again(parse(body), body, TO_PREPARE)


def again(old: bytes, new: bytes) -> Signature | None:
    return renew(prepared(old), new, parse(new))


def bare(mark: Signature) -> Signature:
    return structs.replace(mark, again=b"")


def in_full(body: bytes) -> Signature:
    return sign(parse(body))


def test_other_words_give_the_mark_that_marking_in_full_gives() -> None:
    new = PAGE.replace(b"number 7", b"numeral 7")
    mark = again(PAGE, new)
    assert mark is not None
    assert bare(mark) == in_full(new)
    assert mark.keys != prepared(PAGE).keys
    assert mark.text != prepared(PAGE).text


def test_a_mark_made_from_another_serves_the_next() -> None:
    mark: Signature | None = prepared(PAGE)
    for number in range(5):
        body = PAGE.replace(b"in a hurry", f"in {number} hurries".encode())
        assert mark is not None
        mark = renew(mark, body, parse(body))
        assert mark is not None
        assert bare(mark) == in_full(body)


def test_tokens_leave_the_mark_as_it_was() -> None:
    for token in (
        b'<form><input type="hidden" name="csrf" value="%d"></form><nav>',
        b'<nav data-time="%d" aria-label="%d">'.replace(b"%d", b"x", 1),
        b'<meta name="csrf-token" content="%d"><nav>',
        b"<!-- made in %d ms --><nav>",
        b'<i id="num%d"></i><nav>',
        b'<a href="/cdn-cgi/l/email-protection#%d">mail</a><nav>',
    ):
        old, new = (PAGE.replace(b"<nav>", token % number) for number in (1_111, 22_222))
        mark = again(old, new)
        assert mark is not None, token
        assert bare(mark) == bare(prepared(old)) == in_full(new)


def test_another_script_is_seen_whatever_else_stays() -> None:
    new = PAGE.replace(b"start();", b"if (x) { stop([]); }")
    mark = again(PAGE, new)
    assert mark is not None
    assert bare(mark) == in_full(new)
    assert mark.scripts != prepared(PAGE).scripts


def test_another_frame_is_marked_in_full() -> None:
    for old, new in (
        (b"/b/7", b"/c/7"),
        (b"<h2>Part 7</h2>", b"<h3>Part 7</h3>"),
        (b'"part"', b'"section"'),
        (b"<h2>Part 7</h2>", b"<h2>Part 7</h2><p>A new one.</p>"),
        (b"<h2>Part 7</h2>", b"<h2>Part 7</h2><img src='/gull.png'>"),
        (b"<h2>Part 7</h2>", b"<h2 onclick='go()'>Part 7</h2>"),
        (b"<head>", b"<head><style>p { color: red }</style>"),
        (b"<h2>Part 7</h2>", b"<h2>Part > 7</h2>"),
    ):
        assert again(PAGE, PAGE.replace(old, new, 1)) is None


def test_text_that_could_move_the_main_content_is_marked_in_full() -> None:
    assert again(PAGE, PAGE.replace(b"in a hurry", b"slowly " * 2_000)) is None


def test_a_page_gets_its_table_when_it_changes_for_the_second_time() -> None:
    first = write(sign_again(parse(PAGE), PAGE, b""))
    assert in_brief(first) == TO_PREPARE
    second = write(prepared(PAGE))
    assert in_brief(second) == second
    assert in_brief(b"") == b""


def test_a_page_that_never_changes_just_a_little_is_given_no_second_table() -> None:
    other = page([TEXT.format(number) for number in range(30)])
    mark = sign_again(parse(other), other, write(prepared(PAGE)))
    assert mark.again == NO_TABLE
    assert bare(mark) == in_full(other)
    assert in_brief(write(mark)) == NO_TABLE
    assert sign_again(parse(PAGE), PAGE, NO_TABLE).again == NO_TABLE


def test_a_page_whose_markup_has_other_scripts_than_its_tree_has_no_table() -> None:
    body = PAGE.replace(b"<main>", b"<!-- <script>x</script> --><main>")
    assert prepared(body).again == NO_TABLE


EDITS = st.lists(
    st.tuples(st.integers(0, 19), st.text(alphabet="abc 12:.$\u00e9\u00a0&;<>/\n", max_size=60)), min_size=1, max_size=4
)


@given(edits=EDITS)
def test_a_mark_made_from_another_is_never_wrong(edits: list[tuple[int, str]]) -> None:
    texts = [TEXT.format(number) for number in range(20)]
    for place, text in edits:
        texts[place] = text
    new = page(texts)
    mark = again(PAGE, new)
    assert mark is None or bare(mark) == in_full(new)


@given(edits=EDITS, foot=st.sampled_from(("10:15", "seen 3 times", "<pre>a\n b</pre>", "$ 12", "")))
def test_on_pages_that_declare_no_main_part_neither(edits: list[tuple[int, str]], foot: str) -> None:
    texts = [TEXT.format(number) for number in range(20)]
    old = page(texts, foot).replace(b"main>", b"div>")
    for place, text in edits:
        texts[place] = text
    new = page(texts, foot).replace(b"main>", b"div>")
    mark = again(old, new)
    assert mark is None or bare(mark) == in_full(new)
