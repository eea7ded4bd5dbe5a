import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.parity import as_found

from sanderling.changes.fingerprint_diff import diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.byte_diff import MAX_DIFFERENCES, PageEdits, find_page_edits
from sanderling.fingerprint.fast.compare import compare_edits
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import parse_html

WORDS = "Sanderlings run along the edge of the waves and pick up what the water leaves behind."
PAGE = (
    '<html><head><meta charset="utf-8"><title>Birds</title></head>'
    f"<body><main><p>{WORDS}</p>HERE<p>{WORDS}</p></main></body></html>"
)


def is_unchanged(old: str, new: str) -> bool:
    """Return whether no difference was found; assert that full fingerprints agree with the result."""
    before, after = old.encode(), new.encode()
    tree = parse_html(after, "utf-8")
    edits = find_page_edits(tree, before, after)
    if edits is not None:
        pair, expected = (
            compare_edits(tree, edits),
            diff_fingerprints(
                fingerprint_page(parse_html(before, "utf-8")), fingerprint_page(parse_html(after, "utf-8"))
            ),
        )
        found = diff_fingerprints(pair.old, pair.new)
        assert found == as_found(expected, found)
        assert encode_fingerprint(fingerprint_page(tree)) == encode_fingerprint(
            fingerprint_page(parse_html(after, "utf-8"))
        )
    return edits == PageEdits()


IGNORED = (
    '<i data-time="%s" title="%s"></i>',
    '<meta name="csrf-token" content="%s">',
    '<form><input type="hidden" name="csrf" value="%s"></form>',
    "<!-- made in %s ms -->",
    "<script nonce='%s'>go(1 < 2)</script>",
    '<script>var at = "%s"; if (1 < 2) go()</script>',
    '<script src="/a.js?v=%s&amp;w=1"></script>',
    '<style nonce="%s">p > b { color: red }</style>',
    '<div data-x="%s">mail</div><div data-x="%s">mail</div>',
    '<a href="/b?sid=%s">mail</a>',
    '<a href="/b?sid=%s">mail</a><p><a href="/b?sid=%s">mail</a>',
    '<b title="Weiss &amp; %s">x</b>',
    '<b title="posted %s hours ago">x</b>',
)


@pytest.mark.parametrize("token", IGNORED)
def test_tokens_are_ignored(token: str) -> None:
    old, new = (PAGE.replace("HERE", token.replace("%s", number)) for number in ("1111", "22222"))
    assert is_unchanged(old, new)
    assert is_unchanged(new, old)


@pytest.mark.parametrize(
    "markup",
    [
        "<img alt='<i title=\"%s\">' src=/a.png>",
        "<textarea><i title='%s'></i></textarea>",
        "<textarea><i title='%s'></i></textarea><i title='11'></i><i title='22'></i>",
        "<script>x = `<i title='%s'>`</script>",
        "<p onclick='f(\"<meta content=%s>\")'>x</p>",
        "<textarea><!-- %s --></textarea>",
        "<title>a <!-- %s --></title>",
        "<svg><script>%s</script></svg>",
        "<i title='%s>x</i>",
        "<p>Part %s</p>",
        "<i class='a%s'></i>",
        "<a href='/%s'>on</a>",
        "<script src='/%s.js'></script>",
        "<style>p { margin: %s }</style>",
        "<!--%s-- >x-->",
        '<script type="application/json">{"a":"</script ><p>Gone %s</p>"}</script>',
        "<textarea>a <i title='app%s'> b</textarea><i title='&#97;pp%s'></i>",
        "<textarea>a <i title='%s' lang='eeeee'> b</textarea><i lang='eeeee' title='%s'></i>",
        "<p><i title='%s'>x<p>y<textarea><i title='%s'></textarea>",
        '<p><a href="/b?sid=%s">mail<p>and <a href="/b?sid=%s">mail</a>',  # the parser may have reopened the first
        "<p><b title='%s'>x<p>y<textarea><b title='%s'>x</b></textarea>",
    ],
)
def test_visible_or_ambiguous_difference_is_not_ignored(markup: str) -> None:
    old, new = (PAGE.replace("HERE", markup.replace("%s", number)) for number in ("11", "22"))
    assert not is_unchanged(old, new)
    assert not is_unchanged(new, old)


@pytest.mark.parametrize(
    "tag", ["<a href=%s>on</a>", "<img src=%s>", "<link rel=stylesheet href=%s>", "<iframe src=%s>"]
)
def test_quote_inside_a_value_belongs_to_it(tag: str) -> None:
    old, new = (PAGE.replace("HERE", tag.replace("%s", value)) for value in ('"/b.png"', '"\'/b.png"'))
    assert not is_unchanged(old, new)
    assert not is_unchanged(new, old)


@pytest.mark.parametrize("charset", ["tis-620", "x-mac-cyrillic", "iso-8859-8-i"])
def test_charset_unknown_to_python_is_rejected(charset: str) -> None:
    old, new = (f"<meta charset={charset}><p>x</p><i title={number}></i>".encode() for number in (11, 22))
    assert find_page_edits(parse_html(new, ""), old, new) is None


def test_script_with_another_end_is_rejected() -> None:
    data = '<script type="application/json">{"a":"%s"}</script>'
    assert not is_unchanged(data % "</script ><p>Old visible words</p>", data % "bcd")


@pytest.mark.parametrize(
    "words",
    [
        "<p>Part %s</p>",
        "<b>x</b> Part %s",
        "<br>Part %s &amp; all",
        "<pre> Part\n  %s</pre>",
        "<p data-x='%s'>a</p><p>Part %s</p><i>Part %s</i>",
        "<ul><li><a href=/a>Part %s</a><li><a href=/b>Part %s</a></ul>",
        "<p>Part %s</p><p>Part %s</p>",
    ],
)
def test_edited_texts_are_located(words: str) -> None:
    old, new = (PAGE.replace("HERE", words.replace("%s", number)) for number in ("11:11 $", "22:22:22"))
    found = find_page_edits(parse_html(new.encode(), "utf-8"), old.encode(), new.encode())
    assert found
    assert found.text_edits
    assert {edit.old_text.replace("11:11 $", "22:22:22") for edit in found.text_edits} == {
        edit.node.data for edit in found.text_edits
    }
    assert not is_unchanged(old, new)
    assert not is_unchanged(new, old)


@pytest.mark.parametrize(
    "words",
    [
        "<title>Part %s</title>",
        "<select><option>Part %s</select>",
        "<template><p>Part %s</p></template>",
        "<!-- <p>Part %s -->",
        "<textarea><p>Part %s</textarea>",
        "<p title='<p>Part %s'>x</p>",
        "<p>Part %s &lt; all < 3</p>",
        "<script>x = '<p>Part %s'</script>",
        "<p>Part %s</p><textarea><p>Part %s</textarea>",
        "<p>Part %s</p><p>Part 22</p>",
    ],
)
def test_text_of_special_elements_is_rejected(words: str) -> None:
    old, new = (PAGE.replace("HERE", words.replace("%s", number)) for number in ("11", "22"))
    if not words.startswith(("<!--", "<script")):  # their data is ignored
        assert find_page_edits(parse_html(new.encode(), "utf-8"), old.encode(), new.encode()) is None
    is_unchanged(old, new)
    is_unchanged(new, old)


@pytest.mark.parametrize("code", ["<script>go%s()</script>", "<script src='/%s.js'></script><p>Part %s</p>"])
def test_changed_and_unchanged_scripts_are_listed(code: str) -> None:
    page = PAGE.replace("HERE", f"<script>stay()</script>{code}")
    old, new = (page.replace("%s", word) for word in ("Alpha", "Beta"))
    found = find_page_edits(parse_html(new.encode(), "utf-8"), old.encode(), new.encode())
    assert found
    assert len(found.removed_scripts) == len(found.added_scripts) == len(found.unchanged_scripts) == 1
    assert found.removed_scripts != found.added_scripts
    assert not is_unchanged(old, new)
    assert not is_unchanged(new, old)


def test_added_text_and_changed_white_space_are_rejected() -> None:
    for before, after in (("", "Part"), (" ", "Part"), ("Part", "\nPart"), ("Part", "Part ")):
        old, new = (PAGE.replace("HERE", f"<b>{words}</b>").encode() for words in (before, after))
        assert find_page_edits(parse_html(new, "utf-8"), old, new) is None


def test_added_and_removed_markup_is_rejected() -> None:
    assert not is_unchanged(PAGE, PAGE.replace("HERE", "HERE<meta content=1>"))
    assert not is_unchanged(PAGE, PAGE + "<meta content=1>")
    assert not is_unchanged(PAGE + "x", PAGE)
    assert not is_unchanged("", PAGE)


def test_too_many_differences_are_rejected() -> None:
    old, new = (PAGE.replace("HERE", f"<i title={number}></i>" * (MAX_DIFFERENCES + 1)) for number in (1, 2))
    assert not is_unchanged(old, new)


def test_value_that_occurs_as_character_reference_is_rejected() -> None:
    elsewhere, spot = "<i title='&#50;'></i>", "<textarea><i title='%s'></textarea>"
    old, new = (PAGE.replace("HERE", elsewhere + spot.replace("%s", number)) for number in ("1", "2"))
    assert not is_unchanged(old, new)


SCRAPS = st.lists(
    st.sampled_from(
        (
            *("<b>", "</b>", "x", "<!-- ", "-->", "--!>", "<script>", "</script>", "</SCRIPT>", "<style>", "</style>"),
            *("'", '"', ">", "<", " ", "1", "2", "<p>", "<td>", "<i title=", "<i title='1'>", "<i title='2'>", "<svg>"),
            *("<textarea>", "</textarea>", "<meta content=1>", "<meta content=2>", "<!-- 1 -->", "<!-- 2 -->", "&amp;"),
            *(
                "</script >",
                "<script type=a/json>",
                "<i title='&#49;'>",
                "<i title='&#50;'>",
                "<i lang=x title=1>",
                "</i>",
                "<i title='1'>x</i>",
            ),
            *("<script nonce=1>", "<script nonce=2>", "<i data-x='<b>'>", "<img alt='", "<title>", "</title>"),
        )
    ),
    max_size=8,
).map("".join)
TOKENS = st.sampled_from(("1", "2", "1 ", "x", ""))


@given(start=SCRAPS, spot=SCRAPS, end=SCRAPS, old=TOKENS, new=TOKENS)
def test_ignored_difference_is_never_visible(start: str, spot: str, end: str, old: str, new: str) -> None:
    before, after = (f"{WORDS}{start}{spot.replace('1', token)}{end}<p>{WORDS}" for token in (old, new))
    is_unchanged(before, after)
