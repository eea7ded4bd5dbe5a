"""Templates of a site, learned from its pages."""

from random import Random

import pytest

from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.templates.learn_templates import Model, learn_host_templates
from sanderling.templates.naming import name, pattern
from sanderling.templates.template_views import PageView

CHROME = (
    "<header class=top><nav class=menu><ul class=links></ul></nav></header><main>{}</main><footer class=foot></footer>"
)


def look(id_: int, url: str, title: str, main: str) -> PageView:
    page = f"<title>{title}</title><body>{CHROME.format(main)}"
    return PageView(
        id_, f"https://shop.example{url}", title, decode_features(fingerprint_structure(parse_html(page.encode())))
    )


def shop(random: Random, count: int = 60) -> dict[str, list[PageView]]:
    """Products (some with reviews, some on sale), categories and news, all in the same chrome."""
    pages: dict[str, list[PageView]] = {"product": [], "category": [], "news": []}
    for n in range(count):
        reviews = "<section class=reviews><div class=review></div></section>" if random.random() < 0.5 else ""
        sale = "<div class=badge></div>" if random.random() < 0.2 else ""
        main = f"<div class=product><h1></h1>{sale}<div class=price></div></div>{reviews}"
        pages["product"].append(look(n, f"/p/{random.choice('abc')}-{n}.html", f"Thing {n}", main))
    for n in range(count // 3):
        cards = "<div class=card><h3></h3></div>" * random.randrange(1, 30)
        pages["category"].append(look(1000 + n, f"/c/kind{n}.html", f"All of {n}", f"<h1></h1><div class=grid>{cards}"))
    for n in range(count // 3):
        text = "<article class=news><h1></h1></article>" + "<blockquote></blockquote>" * (n % 2)
        pages["news"].append(look(2000 + n, f"/news/2024/{n}.html", f"News of day {n}", text))
    return pages


@pytest.fixture
def pages() -> dict[str, list[PageView]]:
    return shop(Random(3))


def everything(pages: dict[str, list[PageView]]) -> list[PageView]:
    return [look for looks in pages.values() for look in looks]


def test_each_kind_of_page_is_one_template(pages: dict[str, list[PageView]]) -> None:
    model = learn_host_templates(everything(pages))
    numbers = {kind: {model.place(look) for look in looks} for kind, looks in pages.items()}
    assert all(len(found) == 1 for found in numbers.values())
    assert len(set.union(*numbers.values())) == 3


def test_optional_sections_do_not_split_a_template(pages: dict[str, list[PageView]]) -> None:
    model = learn_host_templates(pages["product"])
    assert len({model.place(look) for look in pages["product"]}) == 1


def test_words_of_urls_and_titles_alone_do_not_split_a_template() -> None:
    looks = [look(n, f"/{'red' if n % 2 else 'blue'}/{n}.html", "Odd" if n % 2 else "Even", "<h1>") for n in range(80)]
    assert len({learn_host_templates(looks).place(look) for look in looks}) == 1


def test_a_page_that_comes_later_is_placed_with_its_kind(pages: dict[str, list[PageView]]) -> None:
    model = learn_host_templates(everything(pages))
    later = look(9, "/p/z-999.html", "Brand new", "<div class=product><h1></h1><div class=price></div></div>")
    assert model.place(later) == model.place(pages["product"][0])


def test_a_page_with_the_url_of_one_kind_and_the_build_of_another_goes_by_its_build(
    pages: dict[str, list[PageView]],
) -> None:
    model = learn_host_templates(everything(pages))
    moved = look(9, "/p/c-77.html", "Thing 77", "<article class=news><h1></h1></article>")
    assert model.place(moved) == model.place(pages["news"][0])


def test_a_page_unlike_everything_is_a_stray(pages: dict[str, list[PageView]]) -> None:
    model = learn_host_templates(everything(pages))
    stray = look(9, "/p/a-78.html", "Thing 78", "<form class=login><fieldset></fieldset></form>")
    assert model.place(stray) >= model.count


def test_templates_are_learned_the_same_whatever_the_order(pages: dict[str, list[PageView]]) -> None:
    looks = everything(pages)
    shuffled = Random(5).sample(looks, len(looks))
    assert learn_host_templates(looks) == learn_host_templates(shuffled)


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_a_very_small_site_has_one_template(pages: dict[str, list[PageView]], count: int) -> None:
    looks = pages["product"][:count]
    model = learn_host_templates(looks)
    assert isinstance(model, Model)
    assert {model.place(look) for look in looks} <= {0}


def test_a_template_is_named_by_the_path_its_pages_share(pages: dict[str, list[PageView]]) -> None:
    assert pattern(look.url for look in pages["category"]) == "/c/kind*.html"
    assert pattern(["https://a.b/x/y/one.html", "https://a.b/x/z/w/one.html"]) == "/x/**/one.html"
    assert pattern(["https://a.b/u/1/use/a", "https://a.b/u/2/use/b"]) == "/u/*/use/*"
    assert pattern([]) == ""


def test_rare_templates_weigh_more(pages: dict[str, list[PageView]]) -> None:
    known = len(everything(pages))
    assert name(0, pages["news"], known).rarity > name(1, pages["product"], known).rarity
