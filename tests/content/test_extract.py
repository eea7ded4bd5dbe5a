"""Tests of main content extraction."""

import pytest
from tests.support.parity import agree

from sanderling.content.extract import extract_blocks
from sanderling.html import text as html_text
from sanderling.html.parser import parse_html

PROSE = "Sanderlings are small waders that run along the edge of the waves all day."
MORE = "They breed in the far north and winter on sandy beaches all over the world."


def extract_main(markup: str) -> list[str]:
    blocks = extract_blocks(parse_html(markup.encode()))
    return [
        " ".join(line.split())
        for line, is_main in zip(blocks.lines, blocks.main_mask, strict=True)
        if is_main and line.strip()
    ]


def test_declared_main_element_is_content_except_menus() -> None:
    page = f"<div>Sale!</div><main><nav>In this page</nav><div>Offer</div><p>{PROSE}</p></main><div>Imprint</div>"
    assert extract_main(page) == ["Offer", PROSE]
    assert extract_main(page.replace("main", "section").replace("<section", "<section role=main")) == ["Offer", PROSE]


def test_main_element_without_prose_is_ignored() -> None:
    assert extract_main(f"<main>Loading</main><p>{PROSE}</p><p>{MORE}</p>") == ["Loading", PROSE, MORE]


def test_landmarks_are_boilerplate() -> None:
    page = f"<header>Logo</header><nav>Menu</nav><p>{PROSE}</p><p>{MORE}</p><aside>Ads</aside><footer>Imprint</footer>"
    assert extract_main(page) == [PROSE, MORE]
    assert extract_main(f"<div role=navigation>Menu</div><p>{PROSE}</p>") == [PROSE]


def test_article_header_with_title_is_content() -> None:
    article = f"<article><header><h1>Birds</h1><p>{MORE}</p></header><p>{PROSE * 3}</p></article>"
    page = f"<header><h2>The Beach</h2></header>{article}"
    assert extract_main(page) == ["Birds", MORE, PROSE * 3]
    assert any(block.main for block in agree(page.encode(), page.replace("far north", "south").encode()).blocks)
    assert not any(block.main for block in agree(page.encode(), page.replace("Beach", "Coast").encode()).blocks)
    assert extract_main(page.replace("Birds", "<a href=/birds>Birds</a>")) == [PROSE * 3]


def test_hidden_elements_in_main_element_are_boilerplate() -> None:
    page = f'<main><p>{PROSE}</p><p hidden>a</p><p style="display: none">b</p><dialog open>c</dialog></main>'
    assert extract_main(page) == [PROSE]


def test_hidden_anchor_does_not_hide_adjacent_text() -> None:
    heading = "<h2>Terns <a hidden class=anchor aria-hidden=true href=#terns>#</a></h2>"
    cells = (
        '<table><tr><td><span style="display:none">007</span>7 pairs</td><td><span hidden>x</span></td></tr></table>'
    )
    assert extract_main(f"<main><p>{PROSE}</p>{heading}{cells}<p>{MORE}</p></main>") == [
        PROSE,
        "Terns #",
        "0077 pairs",
        MORE,
    ]


@pytest.mark.parametrize(
    "element",
    [
        "<a class=popup href=#>ebb</a>",
        "<span hidden>ebb</span>",
        "<span role=dialog>ebb</span>",
        "<noscript>ebb</noscript>",
    ],
)
def test_inline_boilerplate_element_does_not_hide_its_line(element: str) -> None:
    page = f"<p>{PROSE * 9}</p><p>{MORE} {element} As usual.</p>"
    assert len(extract_main(page)) == 2
    assert any(block.main for block in agree(page.encode(), page.replace("far north", "south").encode()).blocks)
    agree(page.encode(), page.replace("ebb", "flood").encode())
    agree(page.encode(), page.replace("ebb", MORE * 3).encode())
    assert extract_main(page.replace("ebb", MORE * 3)) == [PROSE * 9]
    assert extract_main(f"<p>{PROSE}</p><p>{element} or {element} </p>") == [PROSE]


def test_select_is_on_separate_lines() -> None:
    page = f"<p>{PROSE * 9}</p><p>{MORE} <select><option>ebb<option>flood</select> As usual.</p>"
    assert extract_main(page) == [PROSE * 9, MORE, "As usual."]


def test_page_cannot_set_internal_labels() -> None:
    assert extract_main(f"<main><p>{PROSE}</p><p hidden>a</p><p sanderling=hidden>{MORE}</p></main>") == [PROSE, MORE]


def test_banners_are_recognized_by_name() -> None:
    page = f'<div id="onetrust-consent-sdk">We use cookies</div><div class="Site-Footer">Imprint</div><p>{PROSE}</p>'
    assert extract_main(page) == [PROSE]


def test_a_banner_with_most_of_the_prose_is_content() -> None:
    page = f'<div class="header-below"><p>{PROSE}</p><p>{MORE}</p></div><p>short</p>'
    assert extract_main(page) == [PROSE, MORE, "short"]


def test_form_around_whole_page_is_content() -> None:
    assert extract_main(f"<form><p>{PROSE}</p><p>{MORE}</p></form>") == [PROSE, MORE]


def test_form_around_title_is_content() -> None:
    form = f"<form>{{0}}<p>€ 5.95</p><p><input><button>Add to cart</button></p></form><p>{PROSE}</p>"
    assert extract_main(form.format("<h1>A kettle</h1>"))[:2] == ["A kettle", "€ 5.95"]
    assert extract_main(form.format("<h2>A kettle</h2>")) == [PROSE]


def test_runs_of_links_are_a_menu() -> None:
    links = "".join(f"<li><a href={n}>Story {n}</a></li>" for n in range(6))
    assert extract_main(f"<p>{PROSE}</p><p>{MORE}</p><ul>{links}</ul>") == [PROSE, MORE]


def test_multiline_links_are_a_menu() -> None:
    cards = "".join(f"<a href={n}><h3>Story {n}</h3><span>by Anna</span></a>" for n in range(6))
    assert extract_main(f"<p>{PROSE}</p><p>{MORE}</p><div>{cards}</div>") == [PROSE, MORE]
    teasers = cards.replace("<span>", "<p>").replace("</span>", "</p>")
    assert extract_main(f"<p>{PROSE}</p><p>{MORE}</p><div>{teasers}</div>") == [PROSE, MORE]


def test_flattened_elements_keep_their_labels() -> None:
    page = f"<form><p>Find</p>now</form><p>{PROSE}</p><select><option>one<option>two</select><menu>Go</menu>"
    assert extract_main(page) == [PROSE]
    assert extract_main(f"<main><p>{PROSE}</p><dialog><p>a</p>b</dialog></main>") == [PROSE]


def test_link_ends_at_text_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_text, "MAX_TEXT", 20)
    assert extract_main(f"<p>one</p><a href=1><p>two</p><p>{PROSE}</p></a>") == ["one", "two", PROSE[:10]]


def test_single_link_between_paragraphs_is_content() -> None:
    page = f"<p>{PROSE}</p><p><a href=1>Download</a></p><p>{MORE}</p>"
    assert extract_main(page) == [PROSE, "Download", MORE]


def test_links_of_a_hub_page_are_content() -> None:
    links = "".join(f"<li><a href={n}>Story {n}</a></li>" for n in range(30))
    assert len(extract_main(f"<h1>Index</h1><ul>{links}</ul>")) == 31


def test_list_numbers_are_not_text() -> None:
    assert extract_main("<ol><li>one</li><li>two</li></ol>") == ["one", "two"]


def test_extraction_does_not_change_tree() -> None:
    tree = parse_html(f"<div class=menu hidden>x</div><table><tr><td>{PROSE}</table><ol><li>a</ol>".encode())
    before = tree.html
    extract_blocks(tree)
    assert tree.html == before


def test_title_is_not_part_of_a_menu() -> None:
    links = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("Terms", "Privacy", "Cookies", "Sellers"))
    about = "<h2><a href='/terms'>About our terms</a></h2>"
    assert extract_main(f"<ul>{links}</ul><h1>Boats</h1>{about}<p>{PROSE}</p>") == ["Boats", "About our terms", PROSE]
    assert extract_main(f"<h1><a href='/'>Harbour</a></h1><ul>{links}</ul><p>{PROSE}</p>") == [PROSE]


TEXT = "".join(f"<p>{PROSE} {number}</p>" for number in range(12))
COMMENTS = "<div id=comments class=comments-area><h3>2 comments</h3><ol class=comment-list>{0}</ol></div>"
COMMENT = f"<li><p>{PROSE} Or so {{0}} says.</p><a href=/of/{{0}}><img src=/{{0}}.png></a></li>"


@pytest.mark.parametrize("page", [f"<h1>Birds</h1><main>{TEXT}{{0}}</main>", f"<div><h1>Birds</h1>{TEXT}{{0}}</div>"])
def test_comments_below_an_article_are_boilerplate(page: str) -> None:
    short, long = (page.format(COMMENTS.format("".join(map(COMMENT.format, names)))) for names in ("a", "abcdefgh"))
    assert extract_main(long) == extract_main(page.format(""))
    blocks = agree(short.encode(), long.encode())
    assert not any(block.main for block in blocks.blocks)
    assert not {"main_links", "main_images"} & blocks.assets.keys()
    assert any(block.main for block in agree(long.encode(), long.replace("day. 3", "night. 3").encode()).blocks)


def test_comments_without_an_article_are_content() -> None:
    replies = COMMENTS.format("".join(map(COMMENT.format, range(80))))
    assert len(extract_main(f"<main><h1>A fault</h1><p>{PROSE}</p>{replies}</main>")) > 80
    assert len(extract_main(f"<div><h1>A fault</h1>{replies}</div><div>{TEXT}</div>")) > 80


def test_article_with_comment_class_qualifier_is_content() -> None:
    assert len(extract_main(f"<div class='post has-comments'><h1>Birds</h1>{TEXT}</div>")) == 13
