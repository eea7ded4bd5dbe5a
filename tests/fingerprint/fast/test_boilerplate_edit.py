import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.parity import as_found

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.boilerplate_edit import read_boilerplate_edit
from sanderling.fingerprint.fast.byte_diff import find_page_edits
from sanderling.fingerprint.fast.compare import compare_edits
from sanderling.fingerprint.fast.line_diff import compare_changed_lines
from sanderling.html.parser import parse_html

PROSE = "Sanderlings run along the edge of the waves and pick up what the water leaves behind, number {0}."
TEXT = "".join(f"<p>{PROSE.format(number)}</p>" for number in range(40))


def build_page(boilerplate: str, text: str = TEXT) -> str:
    return f'<meta charset="utf-8"><title>Birds</title><div id="doc"><div id="text">{text}</div>{boilerplate}</div>'


def is_boilerplate_edit(old: str, new: str) -> bool:
    """Return whether the edit is recognized as boilerplate; assert that full fingerprints agree."""
    tree, edits = parse_html(new.encode()), find_page_edits(parse_html(new.encode()), old.encode(), new.encode())
    if edits is None or not edits.text_edits:
        return False
    edits = find_page_edits(tree, old.encode(), new.encode())
    assert edits is not None
    pair = compare_edits(tree, edits)
    partial_diff, expected = (
        diff_fingerprints(pair.old, pair.new),
        diff_fingerprints(fingerprint_page(parse_html(old.encode())), fingerprint_page(parse_html(new.encode()))),
    )
    assert partial_diff == as_found(expected, partial_diff)
    blocks = read_boilerplate_edit(tree, edits.text_edits)
    is_known = blocks is not None and compare_changed_lines(*blocks) is not None  # None: bare times affect other lines
    assert not (is_known and any(block.main for block in expected.blocks))
    return is_known


@pytest.mark.parametrize(
    "boilerplate",
    [
        '<div class="sidebar"><h3>News</h3><p>Made on May 26</p></div>',
        '<div class="sidebar"><div hidden>Search here</div><p>Made on May 26</p></div>',
        "<nav><a href=/>Made on May 26</a></nav>",
        "<footer>Made on May 26, <b>with care</b></footer>",
        "<header><p>Made on May 26</p></header>",
        '<div role="banner"><p>Made on May 26</p></div>',
        '<ul id="menu"><li>Made on May 26<li>More</ul>',
        '<div class="sidebar"><table><tr><td>a<td>Made on May 26</table></div>',
    ],
)
def test_edit_in_boilerplate_is_recognized(boilerplate: str) -> None:
    assert is_boilerplate_edit(build_page(boilerplate), build_page(boilerplate.replace("May 26", "June 1")))
    assert is_boilerplate_edit(build_page(boilerplate.replace("May 26", "June 1")), build_page(boilerplate))


@pytest.mark.parametrize(
    ("boilerplate", "text"),
    [
        ("<p>Made on May 26</p>", TEXT),
        ('<div class="sidebar" style="display: none"><p>Made on May 26</p></div>', TEXT),
        ('<div class="sidebar"><pre>Made on May 26</pre></div>', TEXT),
        ('<div class="sidebar"><p>Made on May 26</p></div>', f"<main>{TEXT}</main>"),
        (f'<div class="sidebar">{TEXT}<p>Made on May 26</p></div>', TEXT),
        ('<p>Birds <span class="menu">Made on May 26</span></p>', TEXT),
        (f'<div class="sidebar"><p>{PROSE.format("May 26")}</p></div>', TEXT),
    ],
)
def test_ambiguous_edit_is_not_recognized(boilerplate: str, text: str) -> None:
    is_boilerplate_edit(build_page(boilerplate, text), build_page(boilerplate.replace("May 26", "3 June"), text))
    assert not is_boilerplate_edit(
        build_page(boilerplate, text), build_page(boilerplate.replace("May 26", "the first of June"), text)
    )


PARTS = st.lists(
    st.sampled_from(
        (
            *('<div class="sidebar">', "<nav>", "<footer>", "<aside>", "<div>", "</div>", "</nav>", "<p>", "</p>"),
            *(
                "<p>HERE</p>",
                "HERE",
                "<b>HERE</b>",
                "<a href=/x>HERE</a>",
                "<p hidden>x</p>",
                "<pre>1</pre>",
                "<p>$ 5</p>",
            ),
            *(
                f"<p>{PROSE}</p>",
                "<p>10:15</p>",
                "<li>Gulls",
                "<h2>Terns</h2>",
                "<form>",
                "<main>",
                "<br>",
                "<p>$ 5</p>",
            ),
        )
    ),
    max_size=12,
)
TIMES = ['<div class="sidebar">', *["<p>HERE</p>"] * 3, "</div>", "<p>10:15</p>"]  # four times are a timetable
WORDS = st.sampled_from(("May 26", "June 1", "10:15", "Updated 10:15", "$ 5", "Gulls", PROSE, "3 hours ago"))


@given(parts=PARTS, old=WORDS, new=WORDS, is_long=st.booleans())
@example(parts=TIMES, old="10:15", new="May 26", is_long=False)
@example(parts=TIMES, old="May 26", new="10:15", is_long=True)
def test_recognized_edits_are_never_main_content(parts: list[str], old: str, new: str, is_long: bool) -> None:
    boilerplate, text = "".join(parts), TEXT if is_long else f"<p>{PROSE}</p>"
    is_boilerplate_edit(
        build_page(boilerplate.replace("HERE", old), text), build_page(boilerplate.replace("HERE", new), text)
    )


def test_equal_pages_do_not_differ() -> None:
    assert (
        diff_fingerprints(
            fingerprint_page(parse_html(build_page("").encode())), fingerprint_page(parse_html(build_page("").encode()))
        )
        == FingerprintDiff()
    )
