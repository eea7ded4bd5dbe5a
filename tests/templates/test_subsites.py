"""Several sites behind one host."""

from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.templates.learn_templates import learn_host_templates
from sanderling.templates.subsites import get_top_folder, partition
from sanderling.templates.template_views import PageView


def look(url: str, chrome: str, main: str) -> PageView:
    menu = "".join(f"<div class={chrome}-{name}></div>" for name in ("top", "menu", "search", "side", "crumbs"))
    return PageView(0, url, "", decode_features(fingerprint_structure(parse_html(f"<body>{menu}{main}".encode()))))


def two_sites() -> list[PageView]:
    birds = [look(f"http://h/birds/{n}.html", "bird", "<article class=bird><h1>") for n in range(20)]
    birds += [look(f"http://h/photos/{n}.html", "bird", "<figure class=photo>") for n in range(20)]
    manual = [look(f"http://h/manual/{n}.html", "book", "<article class=bird><h1>") for n in range(20)]
    return birds + manual


def test_directories_that_share_no_chrome_are_sites_of_their_own() -> None:
    numbers = partition(two_sites(), 0)
    assert numbers["birds"] == numbers["photos"] != numbers["manual"]


def test_a_small_directory_belongs_to_the_site_whose_chrome_it_has() -> None:
    few = [look("http://h/about/us.html", "book", "<p>")]
    numbers = partition([*two_sites(), *few], 0)
    assert numbers["about"] == numbers["manual"]


def test_pages_with_the_same_content_but_another_chrome_are_another_template() -> None:
    looks = two_sites()
    model = learn_host_templates(looks)
    assert model.place(looks[0]) != model.place(looks[-1])
    assert model.count == 3


def test_a_page_in_a_new_directory_is_placed_somewhere() -> None:
    model = learn_host_templates(two_sites())
    assert 0 <= model.place(look("http://h/new/1.html", "bird", "<figure class=photo>")) < 2 * model.count


def test_the_top_directory_is_below_what_the_whole_host_shares() -> None:
    assert get_top_folder("http://h/docs/sqlite/a.html", 1) == "sqlite"
    assert get_top_folder("http://h/docs/a.html", 1) == ""


def test_nothing_has_no_parts() -> None:
    assert partition([], 0) == {}
