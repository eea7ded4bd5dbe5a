"""Main content told from furniture."""

import pytest
from tests.support.parity import agree

from sanderling.content.extract import extract_blocks
from sanderling.html import text as reading
from sanderling.html.parser import parse_html

PROSE = "Sanderlings are small waders that run along the edge of the waves all day."
MORE = "They breed in the far north and winter on sandy beaches all over the world."


def main(markup: str) -> list[str]:
    found = extract_blocks(parse_html(markup.encode()))
    return [
        " ".join(line.split())
        for line, there in zip(found.lines, found.main_mask, strict=True)
        if there and line.strip()
    ]


def test_a_declared_main_part_is_believed_but_for_its_menus() -> None:
    page = f"<div>Sale!</div><main><nav>In this page</nav><div>Offer</div><p>{PROSE}</p></main><div>Imprint</div>"
    assert main(page) == ["Offer", PROSE]
    assert main(page.replace("main", "section").replace("<section", "<section role=main")) == ["Offer", PROSE]


def test_a_main_part_without_the_prose_is_not_believed() -> None:
    assert main(f"<main>Loading</main><p>{PROSE}</p><p>{MORE}</p>") == ["Loading", PROSE, MORE]


def test_landmarks_are_furniture() -> None:
    page = f"<header>Logo</header><nav>Menu</nav><p>{PROSE}</p><p>{MORE}</p><aside>Ads</aside><footer>Imprint</footer>"
    assert main(page) == [PROSE, MORE]
    assert main(f"<div role=navigation>Menu</div><p>{PROSE}</p>") == [PROSE]


def test_the_header_of_an_article_has_its_title() -> None:
    article = f"<article><header><h1>Birds</h1><p>{MORE}</p></header><p>{PROSE * 3}</p></article>"
    page = f"<header><h2>The Beach</h2></header>{article}"
    assert main(page) == ["Birds", MORE, PROSE * 3]
    assert any(block.main for block in agree(page.encode(), page.replace("far north", "south").encode()).blocks)
    assert not any(block.main for block in agree(page.encode(), page.replace("Beach", "Coast").encode()).blocks)
    assert main(page.replace("Birds", "<a href=/birds>Birds</a>")) == [PROSE * 3]


def test_what_is_hidden_is_furniture_in_the_main_part_too() -> None:
    page = f'<main><p>{PROSE}</p><p hidden>a</p><p style="display: none">b</p><dialog open>c</dialog></main>'
    assert main(page) == [PROSE]


def test_a_hidden_mark_hides_no_words_beside_it() -> None:
    heading = "<h2>Terns <a hidden class=anchor aria-hidden=true href=#terns>#</a></h2>"
    cells = (
        '<table><tr><td><span style="display:none">007</span>7 pairs</td><td><span hidden>x</span></td></tr></table>'
    )
    assert main(f"<main><p>{PROSE}</p>{heading}{cells}<p>{MORE}</p></main>") == [PROSE, "Terns #", "0077 pairs", MORE]


@pytest.mark.parametrize(
    "word",
    [
        "<a class=popup href=#>ebb</a>",
        "<span hidden>ebb</span>",
        "<span role=dialog>ebb</span>",
        "<noscript>ebb</noscript>",
    ],
)
def test_a_word_that_is_furniture_does_not_hide_the_line_it_stands_in(word: str) -> None:
    page = f"<p>{PROSE * 9}</p><p>{MORE} {word} As told.</p>"
    assert len(main(page)) == 2
    assert any(block.main for block in agree(page.encode(), page.replace("far north", "south").encode()).blocks)
    agree(page.encode(), page.replace("ebb", "flood").encode())
    agree(page.encode(), page.replace("ebb", MORE * 3).encode())
    assert main(page.replace("ebb", MORE * 3)) == [PROSE * 9]
    assert main(f"<p>{PROSE}</p><p>{word} or {word} </p>") == [PROSE]


def test_a_choice_has_lines_of_its_own_and_hides_none_around_it() -> None:
    page = f"<p>{PROSE * 9}</p><p>{MORE} <select><option>ebb<option>flood</select> As told.</p>"
    assert main(page) == [PROSE * 9, MORE, "As told."]


def test_a_page_cannot_mark_its_own_parts() -> None:
    assert main(f"<main><p>{PROSE}</p><p hidden>a</p><p sanderling=hidden>{MORE}</p></main>") == [PROSE, MORE]


def test_banners_are_known_by_their_names() -> None:
    page = f'<div id="onetrust-consent-sdk">We use cookies</div><div class="Site-Footer">Imprint</div><p>{PROSE}</p>'
    assert main(page) == [PROSE]


def test_a_banner_with_most_of_the_prose_is_content() -> None:
    page = f'<div class="header-below"><p>{PROSE}</p><p>{MORE}</p></div><p>short</p>'
    assert main(page) == [PROSE, MORE, "short"]


def test_a_form_around_the_whole_page_is_no_furniture() -> None:
    assert main(f"<form><p>{PROSE}</p><p>{MORE}</p></form>") == [PROSE, MORE]


def test_a_form_with_the_title_of_a_page_has_what_is_sold_there() -> None:
    form = f"<form>{{0}}<p>€ 5.95</p><p><input><button>Add to cart</button></p></form><p>{PROSE}</p>"
    assert main(form.format("<h1>A kettle</h1>"))[:2] == ["A kettle", "€ 5.95"]
    assert main(form.format("<h2>A kettle</h2>")) == [PROSE]


def test_runs_of_bare_links_are_a_menu() -> None:
    links = "".join(f"<li><a href={n}>Story {n}</a></li>" for n in range(6))
    assert main(f"<p>{PROSE}</p><p>{MORE}</p><ul>{links}</ul>") == [PROSE, MORE]


def test_a_link_of_several_lines_is_bare_in_each_of_them() -> None:
    cards = "".join(f"<a href={n}><h3>Story {n}</h3><span>by Anna</span></a>" for n in range(6))
    assert main(f"<p>{PROSE}</p><p>{MORE}</p><div>{cards}</div>") == [PROSE, MORE]
    teasers = cards.replace("<span>", "<p>").replace("</span>", "</p>")
    assert main(f"<p>{PROSE}</p><p>{MORE}</p><div>{teasers}</div>") == [PROSE, MORE]


def test_what_becomes_a_block_for_a_moment_stays_what_it_is() -> None:
    page = f"<form><p>Find</p>now</form><p>{PROSE}</p><select><option>one<option>two</select><menu>Go</menu>"
    assert main(page) == [PROSE]
    assert main(f"<main><p>{PROSE}</p><dialog><p>a</p>b</dialog></main>") == [PROSE]


def test_a_link_that_goes_on_where_a_text_is_cut_ends_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_TEXT", 20)
    assert main(f"<p>one</p><a href=1><p>two</p><p>{PROSE}</p></a>") == ["one", "two", PROSE[:10]]


def test_a_few_links_between_paragraphs_are_content() -> None:
    page = f"<p>{PROSE}</p><p><a href=1>Download</a></p><p>{MORE}</p>"
    assert main(page) == [PROSE, "Download", MORE]


def test_a_page_of_links_has_its_links_as_content() -> None:
    links = "".join(f"<li><a href={n}>Story {n}</a></li>" for n in range(30))
    assert len(main(f"<h1>Index</h1><ul>{links}</ul>")) == 31


def test_numbers_of_a_list_are_not_text() -> None:
    assert main("<ol><li>one</li><li>two</li></ol>") == ["one", "two"]


def test_looking_leaves_the_tree_as_it_was() -> None:
    tree = parse_html(f"<div class=menu hidden>x</div><table><tr><td>{PROSE}</table><ol><li>a</ol>".encode())
    before = tree.html
    extract_blocks(tree)
    assert tree.html == before


def test_a_title_belongs_to_no_menu() -> None:
    links = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("Terms", "Privacy", "Cookies", "Sellers"))
    about = "<h2><a href='/terms'>About our terms</a></h2>"
    assert main(f"<ul>{links}</ul><h1>Boats</h1>{about}<p>{PROSE}</p>") == ["Boats", "About our terms", PROSE]
    assert main(f"<h1><a href='/'>Harbour</a></h1><ul>{links}</ul><p>{PROSE}</p>") == [PROSE]


TEXT = "".join(f"<p>{PROSE} {number}</p>" for number in range(12))
SPOKEN = "<div id=comments class=comments-area><h3>2 comments</h3><ol class=comment-list>{0}</ol></div>"
REPLY = f"<li><p>{PROSE} Or so {{0}} says.</p><a href=/of/{{0}}><img src=/{{0}}.png></a></li>"


@pytest.mark.parametrize("page", [f"<h1>Birds</h1><main>{TEXT}{{0}}</main>", f"<div><h1>Birds</h1>{TEXT}{{0}}</div>"])
def test_comments_below_a_text_are_furniture(page: str) -> None:
    some, more = (page.format(SPOKEN.format("".join(map(REPLY.format, names)))) for names in ("a", "abcdefgh"))
    assert main(more) == main(page.format(""))
    found = agree(some.encode(), more.encode())
    assert not any(block.main for block in found.blocks)
    assert not {"main_links", "main_images"} & found.assets.keys()
    assert any(block.main for block in agree(more.encode(), more.replace("day. 3", "night. 3").encode()).blocks)


def test_comments_that_a_page_is_for_are_content() -> None:
    replies = SPOKEN.format("".join(map(REPLY.format, range(80))))
    assert len(main(f"<main><h1>A fault</h1><p>{PROSE}</p>{replies}</main>")) > 80
    assert len(main(f"<div><h1>A fault</h1>{replies}</div><div>{TEXT}</div>")) > 80


def test_a_text_that_says_it_has_comments_is_content() -> None:
    assert len(main(f"<div class='post has-comments'><h1>Birds</h1>{TEXT}</div>")) == 13
