"""Two trees, compared by the branches in which they differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.parity import as_found

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.partial_fingerprint import compare_trees
from sanderling.fingerprint.fast.tree_diff import ALL_PARTS, MAX_COMPARED_SIZE, FingerprintPart, diff_trees
from sanderling.html.parser import parse_html

WORDS = "Sanderlings run along the edge of the waves and pick up what the water leaves behind."
PAGE = (
    "<!doctype html><html><head><title>Birds</title><link rel=stylesheet href=/a.css><script>start();</script></head>"
    f"<body class=day><nav id=top><a href=/>Home</a></nav><main><p class=first>{WORDS} <a href=/gull>on</a></p>"
    f"<img src=/gull.png alt=gull><form action=/find><input name=q value=x><input type=hidden value=1></form>"
    f"<div onclick='go(1)'><p>{WORDS}</p><pre>a\n b</pre></div><iframe src=/frame></iframe></main>"
    f"<footer style='color: red'>Rendered in a hurry</footer></body></html>"
)


def told(old: str, new: str, size: int = 100) -> FingerprintDiff:
    """What comparing branches tells; see that full marks tell the same."""
    before, after = (parse_html(page.encode(), "utf-8") for page in (old, new))
    pair = compare_trees(before, after, diff_trees(before, after, size))
    found = diff_fingerprints(pair.old, pair.new)
    truth = diff_fingerprints(
        fingerprint_page(parse_html(old.encode(), "utf-8")), fingerprint_page(parse_html(new.encode(), "utf-8"))
    )
    assert found == as_found(truth, found)
    return found


def seen(old: str, new: str, size: int = 100) -> set[FingerprintPart]:
    """Which parts of a mark are made."""
    before, after = (parse_html(page.encode(), "utf-8") for page in (old, new))
    return diff_trees(before, after, size).parts


def test_a_form_that_came_is_seen_though_nothing_is_in_it() -> None:
    assert "forms" in told(PAGE, PAGE.replace("</body>", "<form></form></body>")).assets


def test_equal_trees_do_not_differ() -> None:
    assert (
        told(PAGE, PAGE.replace("<p class=first>", '<p  class="first">').replace("</p></div>", "</div>"))
        == FingerprintDiff()
    )


@pytest.mark.parametrize(
    ("old", "new", "assets"),
    [
        ("start();", "if (x) { stop([]); }", {"scripts"}),
        ("<script>", "<script src=/b.js></script><script>", {"scripts"}),
        ("href=/gull", "href=/tern", {"links", "main_links"}),
        ("/gull.png", "/tern.png", {"images", "main_images"}),
        ("go(1)", "stay(1)", {"handlers"}),
        ("src=/frame", "src=/window", {"frames"}),
        ("value=x", "value=y", {"forms"}),
        ("action=/find", "action=/seek", {"forms"}),
        ("type=hidden value=1", "type=hidden value=2", set()),
        ("<nav id=top>", "<nav id=top data-time=1><!-- 1 -->", set()),
        ("<head>", "<head>\n<meta name=x content=y>\n", set()),
        ("<head>", "<head><link rel=preload href=/b.css onload='use(this)'>", {"handlers"}),
        ("<script>", "<script onload='go()'></script><script>", {"handlers"}),
    ],
)
def test_what_differs_is_told_as_full_marks_would(old: str, new: str, assets: set[str]) -> None:
    for found in (told(PAGE, PAGE.replace(old, new)), told(PAGE.replace(old, new), PAGE)):
        assert set(found.assets) == assets
        assert not found.has_style_change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class=day", "class=night"),
        ("color: red", "color: blue"),
        ("/a.css", "/b.css"),
        ("<head>", "<head><script type=application/ld+json class=graph></script>"),
        ("<head>", "<head><meta style='display: none'>"),
    ],
)
def test_other_looks_are_told(old: str, new: str) -> None:
    found = told(PAGE, PAGE.replace(old, new))
    assert found.has_style_change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("in a hurry", "slowly"),
        ("<p class=first>", "<p>And this.</p><p class=first>"),
        ("<nav id=top>", "<nav id=menu>"),
        ("class=first", "class=sidebar"),
        ("color: red", "display: none"),
        ("<main>", "<main hidden>"),
        ("a\n b", "a\n<!-- x --> b"),
        ("value=x>", "value=x><select><option>a</select>"),
        (">Birds<", ">Beasts<"),
        ("</main>", "</main><template>more</template>"),
    ],
)
def test_other_words_and_tags_are_told(old: str, new: str) -> None:
    told(PAGE, PAGE.replace(old, new))
    told(PAGE.replace(old, new), PAGE)


def test_a_script_inside_a_field_is_read() -> None:
    assert told("<select><option>a<b></select>", "<select><option>a<b><script>x</script></select>").assets


def test_words_that_go_into_a_link_are_told_though_no_line_changes() -> None:
    links = "".join(f"<li><a href=/{n}>Birds</a> of number {n}</li>" for n in range(9))
    assert told(f"<ul>{links}</ul><p>{WORDS}", f"<ul>{links.replace('</a> of', ' of</a>')}</ul><p>{WORDS}") is not None


def test_lines_between_those_that_differ_are_spelled_as_in_the_whole_page() -> None:
    page = f"<main><p>Cafe\u0301 {WORDS}</p><p>A1 {WORDS}</p><p>R = ten \u2126 and more</p><p>B1 {WORDS}</p></main>"
    assert len(told(page, page.replace("A1", "A2").replace("B1", "B2")).blocks) == 2


@pytest.mark.parametrize("odd", ["<script>go(1)</script>", "<style>a{}</style>", "<title>Menu</title>"])
def test_a_script_inside_a_link_of_a_menu_makes_it_no_link_of_the_text(odd: str) -> None:
    links = "".join(f"<li><a href=/{n}>Birds of number {n}</a></li>" for n in range(9))
    prose = "".join(f"<p>{n}. {WORDS}</p>" for n in range(9))
    page = f"<div><ul>{links}</ul>{prose}</div>"
    assert "main_links" not in told(page, page.replace("number 5", f"number 5{odd}")).assets


def test_a_large_page_is_not_passed_over_again_and_again() -> None:
    old, new = (f"<div><div><i class={name}></i></div></div>" for name in "ab")
    assert told(old, new) == told(old, new, MAX_COMPARED_SIZE)
    assert seen(old, new, 100) == {FingerprintPart.STYLES}
    assert seen(old, new, MAX_COMPARED_SIZE) == ALL_PARTS


def test_texts_in_a_row_are_one() -> None:
    texts = "x<!---->" * 1000
    found = told(f"<i class=a></i>{texts}<i class=a></i>", f"<i class=b></i>{texts}<!-- -->x<i class=b></i>")
    assert found.blocks
    found = told(f"<i class=a></i>{texts}<i class=a></i>", f"<i class=b></i>{texts}<!-- --><i class=b></i>")
    assert found.has_style_change


def test_where_very_much_differs_all_parts_are_made() -> None:
    old, new = "<i class=a></i>", "<i class=b></i>"
    assert told(old * 600, new * 600).has_style_change
    assert seen(old * 600, new * 600) == ALL_PARTS
    assert told(old * 60, new * 60).has_style_change
    assert seen(old * 60, new * 60) == {FingerprintPart.STYLES}


SCRAPS = st.lists(
    st.sampled_from(
        (
            *(
                "<b>",
                "</b>",
                "x",
                "<!-- a -->",
                "<script>a()</script>",
                "<style>p{}</style>",
                "</p>",
                "</div>",
                " ",
                "\n",
            ),
            *(
                "<p>",
                "<td>",
                "<table>",
                "<i class=y>",
                "<a href=/x>",
                "<a href=/y>",
                "</a>",
                "<select><option>u",
                "<svg>",
            ),
            *(
                "<img src=/a.png alt=b>",
                "<img src=/c.png>",
                "<pre>",
                "</pre>",
                "<meta content=1>",
                "<link rel=stylesheet>",
            ),
            *(
                "<p style=display:none>",
                "<div id=menu>",
                "<div id=a1>",
                "<form>",
                "<input value=1>",
                "<template>",
                "<main>",
            ),
        )
    ),
    max_size=10,
).map("".join)


@given(start=SCRAPS, old=SCRAPS, new=SCRAPS, end=SCRAPS)
def test_comparing_branches_is_never_wrong(start: str, old: str, new: str, end: str) -> None:
    told(f"{WORDS}{start}{old}{end}<p>{WORDS}", f"{WORDS}{start}{new}{end}<p>{WORDS}")
