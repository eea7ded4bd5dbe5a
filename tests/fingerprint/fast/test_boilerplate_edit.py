"""Words in furniture, told without reading the whole page."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.parity import as_found

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.boilerplate_edit import read_boilerplate_edit
from sanderling.fingerprint.fast.byte_diff import find_page_edits
from sanderling.fingerprint.fast.line_diff import compare_changed_lines
from sanderling.fingerprint.fast.partial_fingerprint import compare_edits
from sanderling.html.parser import parse_html

PROSE = "Sanderlings run along the edge of the waves and pick up what the water leaves behind, number {0}."
TEXT = "".join(f"<p>{PROSE.format(number)}</p>" for number in range(40))


def page(beside: str, text: str = TEXT) -> str:
    return f'<meta charset="utf-8"><title>Birds</title><div id="doc"><div id="text">{text}</div>{beside}</div>'


def is_aside(old: str, new: str) -> bool:
    """Say whether what differs is known to be furniture at once; see that full marks say the same of it."""
    tree, found = parse_html(new.encode()), find_page_edits(parse_html(new.encode()), old.encode(), new.encode())
    if found is None or not found.text_edits:
        return False
    found = find_page_edits(tree, old.encode(), new.encode())
    assert found is not None
    pair = compare_edits(tree, found)
    seen, truth = (
        diff_fingerprints(pair.old, pair.new),
        diff_fingerprints(fingerprint_page(parse_html(old.encode())), fingerprint_page(parse_html(new.encode()))),
    )
    assert seen == as_found(truth, seen)
    aside = read_boilerplate_edit(tree, found.text_edits)
    is_known = (
        aside is not None and compare_changed_lines(*aside) is not None
    )  # which sees that bare times decide about others
    assert not (is_known and any(block.main for block in truth.blocks))
    return is_known


@pytest.mark.parametrize(
    "beside",
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
def test_words_in_furniture_are_told_at_once(beside: str) -> None:
    assert is_aside(page(beside), page(beside.replace("May 26", "June 1")))
    assert is_aside(page(beside.replace("May 26", "June 1")), page(beside))


@pytest.mark.parametrize(
    ("beside", "text"),
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
def test_what_is_not_sure_is_read_as_a_whole(beside: str, text: str) -> None:
    is_aside(page(beside, text), page(beside.replace("May 26", "3 June"), text))
    assert not is_aside(page(beside, text), page(beside.replace("May 26", "the first of June"), text))


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
TIMES = ['<div class="sidebar">', *["<p>HERE</p>"] * 3, "</div>", "<p>10:15</p>"]  # four of them make a timetable
WORDS = st.sampled_from(("May 26", "June 1", "10:15", "Updated 10:15", "$ 5", "Gulls", PROSE, "3 hours ago"))


@given(parts=PARTS, old=WORDS, new=WORDS, is_long=st.booleans())
@example(parts=TIMES, old="10:15", new="May 26", is_long=False)
@example(parts=TIMES, old="May 26", new="10:15", is_long=True)
def test_furniture_is_never_taken_for_what_it_is_not(parts: list[str], old: str, new: str, is_long: bool) -> None:
    beside, text = "".join(parts), TEXT if is_long else f"<p>{PROSE}</p>"
    is_aside(page(beside.replace("HERE", old), text), page(beside.replace("HERE", new), text))


def test_nothing_is_told_of_equal_pages() -> None:
    assert (
        diff_fingerprints(
            fingerprint_page(parse_html(page("").encode())), fingerprint_page(parse_html(page("").encode()))
        )
        == FingerprintDiff()
    )
