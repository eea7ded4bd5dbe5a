import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.parity import as_found

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.fingerprint_parts import ALL_PARTS, FingerprintPart
from sanderling.fingerprint.fast.partial_fingerprint import compare_trees
from sanderling.fingerprint.fast.tree_diff import MAX_COMPARED_SIZE, diff_trees
from sanderling.html.parser import parse_html

WORDS = "Sanderlings run along the edge of the waves and pick up what the water leaves behind."
PAGE = (
    "<!doctype html><html><head><title>Birds</title><link rel=stylesheet href=/a.css><script>start();</script></head>"
    f"<body class=day><nav id=top><a href=/>Home</a></nav><main><p class=first>{WORDS} <a href=/gull>on</a></p>"
    f"<img src=/gull.png alt=gull><form action=/find><input name=q value=x><input type=hidden value=1></form>"
    f"<div onclick='go(1)'><p>{WORDS}</p><pre>a\n b</pre></div><iframe src=/frame></iframe></main>"
    f"<footer style='color: red'>Rendered in a hurry</footer></body></html>"
)


def compare_pages(old: str, new: str, size: int = 100) -> FingerprintDiff:
    """Compare two trees; assert that full fingerprints agree."""
    before, after = (parse_html(page.encode(), "utf-8") for page in (old, new))
    pair = compare_trees(before, after, diff_trees(before, after, size))
    found = diff_fingerprints(pair.old, pair.new)
    expected = diff_fingerprints(
        fingerprint_page(parse_html(old.encode(), "utf-8")), fingerprint_page(parse_html(new.encode(), "utf-8"))
    )
    assert found == as_found(expected, found)
    return found


def find_parts(old: str, new: str, size: int = 100) -> set[FingerprintPart]:
    before, after = (parse_html(page.encode(), "utf-8") for page in (old, new))
    return diff_trees(before, after, size).parts


def test_added_empty_form_is_found() -> None:
    assert "forms" in compare_pages(PAGE, PAGE.replace("</body>", "<form></form></body>")).assets


def test_equal_trees_do_not_differ() -> None:
    assert (
        compare_pages(PAGE, PAGE.replace("<p class=first>", '<p  class="first">').replace("</p></div>", "</div>"))
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
def test_changed_assets_are_compared_like_full_fingerprints(old: str, new: str, assets: set[str]) -> None:
    for found in (compare_pages(PAGE, PAGE.replace(old, new)), compare_pages(PAGE.replace(old, new), PAGE)):
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
def test_changed_styles_are_found(old: str, new: str) -> None:
    found = compare_pages(PAGE, PAGE.replace(old, new))
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
def test_changed_text_and_tags_are_compared_like_full_fingerprints(old: str, new: str) -> None:
    compare_pages(PAGE, PAGE.replace(old, new))
    compare_pages(PAGE.replace(old, new), PAGE)


def test_script_inside_an_option_is_text() -> None:
    assert compare_pages("<select><option>a<b></select>", "<select><option>a<b><script>x</script></select>").assets


def test_text_moved_into_a_link_is_compared_like_full_fingerprints() -> None:
    links = "".join(f"<li><a href=/{n}>Birds</a> of number {n}</li>" for n in range(9))
    assert (
        compare_pages(f"<ul>{links}</ul><p>{WORDS}", f"<ul>{links.replace('</a> of', ' of</a>')}</ul><p>{WORDS}")
        is not None
    )


def test_lines_between_changed_lines_are_normalized_like_the_whole_page() -> None:
    page = f"<main><p>Cafe\u0301 {WORDS}</p><p>A1 {WORDS}</p><p>R = ten \u2126 and more</p><p>B1 {WORDS}</p></main>"
    assert len(compare_pages(page, page.replace("A1", "A2").replace("B1", "B2")).blocks) == 2


@pytest.mark.parametrize("markup", ["<script>go(1)</script>", "<style>a{}</style>", "<title>Menu</title>"])
def test_script_inside_a_menu_link_does_not_make_it_main_content(markup: str) -> None:
    links = "".join(f"<li><a href=/{n}>Birds of number {n}</a></li>" for n in range(9))
    prose = "".join(f"<p>{n}. {WORDS}</p>" for n in range(9))
    page = f"<div><ul>{links}</ul>{prose}</div>"
    assert "main_links" not in compare_pages(page, page.replace("number 5", f"number 5{markup}")).assets


def test_large_page_has_a_smaller_budget() -> None:
    old, new = (f"<div><div><i class={name}></i></div></div>" for name in "ab")
    assert compare_pages(old, new) == compare_pages(old, new, MAX_COMPARED_SIZE)
    assert find_parts(old, new, 100) == {FingerprintPart.STYLES}
    assert find_parts(old, new, MAX_COMPARED_SIZE) == ALL_PARTS


def test_adjacent_texts_are_merged() -> None:
    texts = "x<!---->" * 1000
    found = compare_pages(f"<i class=a></i>{texts}<i class=a></i>", f"<i class=b></i>{texts}<!-- -->x<i class=b></i>")
    assert found.blocks
    found = compare_pages(f"<i class=a></i>{texts}<i class=a></i>", f"<i class=b></i>{texts}<!-- --><i class=b></i>")
    assert found.has_style_change


def test_all_parts_are_built_beyond_the_budget() -> None:
    old, new = "<i class=a></i>", "<i class=b></i>"
    assert compare_pages(old * 600, new * 600).has_style_change
    assert find_parts(old * 600, new * 600) == ALL_PARTS
    assert compare_pages(old * 60, new * 60).has_style_change
    assert find_parts(old * 60, new * 60) == {FingerprintPart.STYLES}


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
def test_tag_soup_is_compared_like_full_fingerprints(start: str, old: str, new: str, end: str) -> None:
    compare_pages(f"{WORDS}{start}{old}{end}<p>{WORDS}", f"{WORDS}{start}{new}{end}<p>{WORDS}")
