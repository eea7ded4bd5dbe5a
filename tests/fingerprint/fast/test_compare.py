import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.parity import agree, pair_of

from sanderling.changes.fingerprint_diff import FingerprintDiff
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.compare import (
    UNCHANGED_FINGERPRINTS,
    PreviousVersion,
    build_comparison_fingerprints,
)
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.fingerprint.model import decode_fingerprint, encode_fingerprint
from sanderling.html.parser import parse_html
from sanderling.page_fingerprints import PageFingerprints

TEXT = "Sanderlings run along the edge of the waves and pick up what the water leaves behind, number {0}."


def build_page(paragraphs: list[str], foot: str = "Rendered in a hurry", more: str = "") -> bytes:
    blocks = "\n".join(
        f'<div class="part"><h2>Part {number}</h2>\n<p>{text} <a href="/b/{number}">on</a></p></div>'
        for number, text in enumerate(paragraphs)
    )
    return (
        '<html><head><meta charset="utf-8"><title>Birds</title><script>start();</script><script>stay(1);</script>'
        f"</head><body><nav><a href='/'>Home</a></nav>\n"
        f"<main>{blocks}{more}</main>\n<footer>{foot}</footer></body></html>"
    ).encode()


PAGE = build_page([TEXT.format(number) for number in range(20)])


def test_edited_text_is_compared_like_full_fingerprints() -> None:
    new = PAGE.replace(b"number 7", b"numeral 7")
    assert len(agree(PAGE, new).blocks) == 1


def test_character_references_are_read_like_the_parser() -> None:
    for letter in (b"&#31;", b"&#x1;", b"&#65534;", b"&#39;"):
        agree(PAGE, PAGE.replace(b"number 7", letter + b"number 7"))
        agree(PAGE.replace(b"number 7", letter + b"number 7"), PAGE)


def test_tokens_are_ignored() -> None:
    for token in (
        b'<form><input type="hidden" name="csrf" value="%d"></form><nav>',
        b'<nav data-time="%d" aria-label="%d">'.replace(b"%d", b"x", 1),
        b'<meta name="csrf-token" content="%d"><nav>',
        b"<!-- made in %d ms --><nav>",
        b"<!-- <b>made</b> in %d ms --><nav>",
        b'<i id="num%d"></i><nav>',
        b'<a href="/cdn-cgi/l/email-protection#%d">mail</a><nav>',
        b'<a href="/b?sid=%d">mail</a><nav>',
        b'<link rel="stylesheet" href="/a.css?v=%d"><nav>',
        b'<script nonce="%d">go(1)</script><nav>',
        b'<script src="/a.js?v=%d"></script><nav>',
        b"<script>go(%d)</script><nav>",
    ):
        old, new = (PAGE.replace(b"<nav>", token % number) for number in (1_111, 22_222))
        pair = pair_of(old, new)
        assert pair.old == pair.new, token
        agree(old, new)


def test_equal_stable_hashes_skip_the_comparison() -> None:
    old, new = (PAGE.replace(b"<nav>", b"<!-- made in %d ms --><nav>" % time) for time in (5, 7))
    assert (
        build_comparison_fingerprints(
            parse_html(new), new, PreviousVersion(old, "utf-8", stable_hash=compute_stable_hash(new))
        )
        == UNCHANGED_FINGERPRINTS
    )
    other = new.replace(b"number 7", b"numeral 7")
    assert (
        build_comparison_fingerprints(
            parse_html(other), other, PreviousVersion(old, "utf-8", stable_hash=compute_stable_hash(other))
        )
        != UNCHANGED_FINGERPRINTS
    )
    other_charset = PreviousVersion(old, "latin-1", stable_hash=compute_stable_hash(new))
    pair = build_comparison_fingerprints(parse_html(new), new, other_charset)
    assert pair.before == pair.page


def test_lazily_loaded_image_is_compared() -> None:
    image = b'<img data-src="/%s.png" title="%s"><h2>Part 7'
    old, new = (PAGE.replace(b"<h2>Part 7", image % (name, name)) for name in (b"gull", b"tern"))
    assert agree(old, new).assets


def test_ignored_tags_can_be_added_and_removed() -> None:
    new = PAGE.replace(b"<head>", b"<head><meta name='a' content='b'><link rel='next' href='/n'><!-- x -->")
    agree(PAGE, new)
    agree(new, PAGE)


def test_changed_script_is_found() -> None:
    new = PAGE.replace(b"start();", b"if (x) { stop([]); }")
    assert set(agree(PAGE, new).assets) == {"scripts"}


def test_added_and_removed_scripts_are_found() -> None:
    for number in (b"<head>", b"<main>", b"</main>", b"number 7"):
        new = PAGE.replace(number, number + b"<script src='/more.js'></script><script>more([])</script>")
        agree(new, PAGE)
        assert set(agree(PAGE, new).assets) == {"scripts"}


def test_changed_style_sheet_is_found() -> None:
    old, new = (PAGE.replace(b"<head>", b"<head><style>p { color: %s }</style>" % name) for name in (b"red", b"blue"))
    assert agree(old, new).has_style_change


def test_changed_title_is_found() -> None:
    new = PAGE.replace(b">Birds<", b">Beasts<")
    assert set(agree(PAGE, new).assets) == {"title"}


def test_changed_tags_are_compared_like_full_fingerprints() -> None:
    for old, new in (
        (b"/b/7", b"/c/7"),
        (b"<h2>Part 7</h2>", b"<h3>Part 7</h3>"),
        (b'"part"', b'"section"'),
        (b"<h2>Part 7</h2>", b"<h2>Part 7</h2><p>A new one.</p>"),
        (b"<h2>Part 7</h2>", b"<h2>Part 7</h2><img src='/gull.png'>"),
        (b"<h2>Part 7</h2>", b"<h2 onclick='go()'>Part 7</h2>"),
        (b"<head>", b"<head><style>p { color: red }</style>"),
        (b"<h2>Part 7</h2>", b"<h2>Part > 7</h2>"),
        (b"<h2>Part 7</h2>", b"<h2>Part < 7</h2>"),
        (b"<h2>Part 7</h2>", b"<h2></h2>"),
    ):
        assert agree(PAGE, PAGE.replace(old, new, 1)) != FingerprintDiff()
        agree(PAGE.replace(old, new, 1), PAGE)


def test_markup_inside_a_value_is_not_parsed_as_tags() -> None:
    for value in (b"<img src='/a.png' alt=\"a <b>%d</b> c\">", b"<p onclick='f(\"<meta content=%d>\")'>x</p>"):
        old, new = (
            PAGE.replace(b"<h2>Part 7", value.replace(b"%d", letter) + b"<h2>Part 7") for letter in (b"x", b"y")
        )
        agree(old, new)


def test_markup_inside_raw_text_is_compared_by_the_tree() -> None:
    for odd in (
        b"<textarea><style>x</style></textarea>",
        b"<title>a <b>c</title>",
        b"<xmp><meta content=1></xmp>",
        b"<textarea><!-- 1 --></textarea>",
    ):
        old = PAGE.replace(b"<main>", odd + b"<main>")
        agree(old, old.replace(b"number 7", b"numeral 7"))


def test_text_that_moves_the_main_content_is_found() -> None:
    agree(PAGE, PAGE.replace(b"in a hurry", b"slowly " * 2_000))
    bare = PAGE.replace(b"main>", b"div>")
    agree(bare, bare.replace(b"in a hurry", b"slowly " * 2_000))


def test_each_version_is_read_in_its_own_charset() -> None:
    old, new = "<p>Wei\u00df</p>".encode("windows-1252"), "<p>Wei\u00df</p>".encode()
    pair = pair_of(old, new, "windows-1252")
    assert pair.old == pair.new


def test_line_ends_make_no_difference() -> None:
    pair = pair_of(PAGE, PAGE.replace(b"\n", b"\r\n"))
    assert pair.old == pair.new


def test_full_fingerprint_is_stored_until_it_is_outdated() -> None:
    words, tags = PAGE.replace(b"number 7", b"numeral 7"), PAGE.replace(b"<h2>", b"<h3>")
    full = encode_fingerprint(fingerprint_page(parse_html(tags)))
    assert build_comparison_fingerprints(parse_html(tags), tags, PreviousVersion(b"")) == PageFingerprints(page=full)
    first = build_comparison_fingerprints(parse_html(tags), tags, PreviousVersion(PAGE, "utf-8"))
    assert (first.page, first.before is None, first.after) == (full, False, None)
    assert build_comparison_fingerprints(
        parse_html(tags), tags, PreviousVersion(PAGE, "utf-8", has_fingerprint=True)
    ) == PageFingerprints(page=full)
    pair = build_comparison_fingerprints(parse_html(words), words, PreviousVersion(PAGE, "utf-8"))
    assert (pair.page, pair.before is None, pair.after is None) == (None, False, False)
    assert (
        build_comparison_fingerprints(
            parse_html(words), words, PreviousVersion(PAGE, "utf-8", has_fingerprint=True)
        ).page
        == b""
    )
    last, token = (PAGE.replace(b"<nav>", b'<nav data-time="%d">' % time) for time in (1799999999, 1800000000))
    same = build_comparison_fingerprints(parse_html(token), token, PreviousVersion(last, "utf-8", has_fingerprint=True))
    assert same.page is None, "the stored fingerprint stays valid"
    assert decode_fingerprint(same.before or b"") == decode_fingerprint(same.after or b"")


EDITS = st.lists(
    st.tuples(st.integers(0, 19), st.text(alphabet="abc 12:.$\u00e9\u00a0&;<>/\n", max_size=60)), min_size=1, max_size=4
)


@given(edits=EDITS)
def test_edits_are_compared_like_full_fingerprints(edits: list[tuple[int, str]]) -> None:
    texts = [TEXT.format(number) for number in range(20)]
    for number, text in edits:
        texts[number] = text
    agree(PAGE, build_page(texts))


@given(edits=EDITS, foot=st.sampled_from(("10:15", "seen 3 times", "<pre>a\n b</pre>", "$ 12", "")))
def test_edits_without_main_element_are_compared_like_full_fingerprints(
    edits: list[tuple[int, str]], foot: str
) -> None:
    texts = [TEXT.format(number) for number in range(20)]
    old = build_page(texts, foot).replace(b"main>", b"div>")
    for number, text in edits:
        texts[number] = text
    agree(old, build_page(texts, foot).replace(b"main>", b"div>"))


SCRAPS = st.lists(
    st.sampled_from(
        (
            *("<b>", "</b>", "x", "<!--", "-->", "--!>", "<script>", "</script>", "</SCRIPT>", "<style>", "</style>"),
            *("'", '"', ">", "<", " ", "1", "<p>", "<td>", "<i title='", "<i class=y>", "<a href=/x>", "</a>"),
            *("<textarea>", "</textarea>", "<meta content=1>"),
        )
    ),
    max_size=12,
).map("".join)


@given(start=SCRAPS, old=SCRAPS, new=SCRAPS, end=SCRAPS)
def test_broken_markup_is_compared_like_full_fingerprints(start: str, old: str, new: str, end: str) -> None:
    head, more = f'<meta charset="utf-8">{TEXT}{start}', f"{end}<p>{TEXT}"
    agree(f"{head}{old}{more}".encode(), f"{head}{new}{more}".encode())


ODD_MARKUP = {
    "a name that is not English": ('<img src="/img/Птица-ход1.png">', '<img src="/img/Птица-ходец.png">'),
    "a name that ends in white space of another charset": ('<a href="/x/\u00e0">x</a>', '<a href="/x/\u00c5">x</a>'),
    "tags in capitals": ("<SELECT><OPTION>green</SELECT>", "<SELECT><OPTION>brown</SELECT>"),
    "a quote left open": ('<a href="/f>a</a> and <a href="/b">b</a>', '<a href="/f>a</a> but <a href="/b">b</a>'),
    "a comment that was text": ("<textarea>a <!-- x --></textarea>", "<textarea>a </textarea>"),
    "a script that was text": ("<iframe><script>a()</script></iframe>", "<iframe></iframe>"),
    "a value given twice": ("<link rel=stylesheet rel=next href=/a.css>", "<link rel=stylesheet rel=next href=/b.css>"),
    "a type given twice": ("<input type=text type=hidden value=a>", "<input type=text type=hidden value=b>"),
    "an escaped word": ('<link rel="&#115;tylesheet" href="/a.css">', '<link rel="&#115;tylesheet" href="/b.css">'),
    "a name inside a value": ('<img alt=" title=" src=/a.png id="q">', '<img alt=" title=" src=/b.png id="q">'),
    "a tag that leaves a drawing": ("<svg><meta name=x><g></g></svg>", "<svg><g></g></svg>"),
    "a tag that ends a table's columns": ("<table><colgroup><link><col></table>", "<table><colgroup><col></table>"),
    "a style sheet in a drawing": ("<svg><style><i title=2></style></svg>", "<svg><style><b>More</b></style></svg>"),
    "data in a formula": ("<math><script type=a>1</script></math>", "<math><script type=a><iframe></script></math>"),
    "a control": ("<h3>Dogs?</h3><p hidden>No</p>", '<h3 aria-expanded="false">Dogs?</h3><p hidden>No</p>'),
    "a relative time in words": ("<p>an hour ago</p>", "<p>2 hours ago</p>"),
    "a lazily loaded image": ("<img src=/a.png data-src=/b.png>", "<img src=/a.png data-src=/c.png>"),
    "text of a template": (f"<template>{TEXT.format('x')}</template>", f"<template>{TEXT.format(3)}</template>"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_MARKUP)
def test_odd_markup_is_compared_like_full_fingerprints(name: str) -> None:
    old, new = (PAGE.replace(b"<h2>Part 7", markup.encode() + b"<h2>Part 7") for markup in ODD_MARKUP[name])
    agree(old, new)
    agree(new, old)


def test_white_space_after_the_end_can_reopen_a_tag() -> None:
    old = b"<main><p>%s<i class=c>x</main></body></html>" % TEXT.format(1).encode()
    agree(old, old.replace(b"</body>", b"</body>\n"))
    agree(old.replace(b"</body>", b"</body>\n"), old)


def test_upper_case_title_that_changes_with_a_heading_is_found() -> None:
    old = PAGE.replace(b"<title>Birds</title>", b"<TITLE>Birds</TITLE>").replace(b"Part 7", b"Part 7 of all")
    agree(old, old.replace(b"Birds", b"Gulls").replace(b"7 of all", b"7 of most"))


def test_comment_inside_a_title_is_text() -> None:
    agree(PAGE.replace(b"Birds</title>", b"Birds<!-- x --></title>"), PAGE)


def test_scripts_are_read_in_the_charset_of_their_page() -> None:
    old = PAGE.replace(b"utf-8", b"latin1").replace(b"<script>stay(1);", b'<script src="/\xe4.js">')
    new = old.replace(b"/\xe4.js", b"/\xf6.js")
    pair = pair_of(old, new, (parse_html(old).encoding or "").lower())
    assert pair.old.scripts != pair.new.scripts
