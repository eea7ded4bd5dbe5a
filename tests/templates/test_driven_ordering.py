"""Driving a crawl towards pages of one kind."""

from collections.abc import Sequence

from sanderling.fetch.template_filter import has_matching_structure
from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl
from sanderling.html.parser import parse_html
from sanderling.models import Link, Url
from sanderling.templates.classifier import Recogniser
from sanderling.templates.driven_ordering import RANKS, Driven
from sanderling.templates.link_model import LinkSeen, Navigator
from sanderling.templates.link_outcomes import Arrival
from sanderling.templates.template_views import PageView

CHROME = "<header class=top><ul class=menu></ul></header>{}<footer class=foot></footer>"
PRODUCT = fingerprint_structure(
    parse_html(CHROME.format("<div class=product><h1></h1><div class=price></div></div>").encode())
)
LISTING = fingerprint_structure(parse_html(CHROME.format("<div class=grid><div class=card></div></div>").encode()))
TEXT = fingerprint_structure(parse_html(CHROME.format("<article class=text><h1></h1></article>").encode()))
ROOT = "https://shop.example"


def page(id_: int, path: str, signature: bytes, *links: str) -> Arrival:
    found = [(100 + n, LinkSeen(ROOT + link, "go", ROOT + path)) for n, link in enumerate(links)]
    return Arrival(id_, ROOT + path, "", signature, found)


def driven(*samples: str) -> Driven:
    looks = [PageView(n, ROOT + path, "", decode_features(PRODUCT)) for n, path in enumerate(samples)]
    return Driven(Recogniser(looks), Navigator([look.url for look in looks]))


def test_links_that_look_like_the_sample_are_followed_first() -> None:
    product, text = driven("/p/1.html").rank(
        [FoundUrl(Url(f"{ROOT}/p/2.html"), 1), FoundUrl(Url(f"{ROOT}/a/us.html"), 1)]
    )
    assert product < text


def test_pages_built_like_the_sample_are_kept_with_their_likeness() -> None:
    order = driven("/p/1.html")
    order.take_in(page(1, "/t/1.html", TEXT))
    order.take_in(page(2, "/x/2.html", PRODUCT))
    order.take_in(page(3, "/c/3.html", LISTING))
    assert order.matches == {f"{ROOT}/x/2.html": 1.0}


def test_what_waits_moves_forward_when_its_kind_turns_out_to_be_wanted() -> None:
    deals = [f"/deal/{n}.html" for n in range(8)]
    pages = [page(1, "/", LISTING, *deals)]
    pages += [page(100 + n, deals[n], PRODUCT) for n in range(4)] + [page(50 + n, f"/t/{n}", TEXT) for n in range(4)]
    order = driven("/p/1.html")
    order.rank([FoundUrl(Url(ROOT + deal), 1) for deal in deals])
    for stored in pages:
        order.note(stored)
    gains = order.pop_rank_gains()
    assert set(gains) == {104, 105, 106, 107}
    assert all(gain > 0 for gain in gains.values())
    assert order.pop_rank_gains() == {}


def test_of_two_links_the_one_nearer_to_the_start_comes_first_but_a_good_one_always() -> None:
    near, far, farther, kin = driven("/p/1.html").rank(
        [FoundUrl(Url(f"{ROOT}/us/now/a.php"), depth) for depth in (1, 5, 90)] + [FoundUrl(Url(f"{ROOT}/p/2.html"), 90)]
    )
    assert near < far == farther
    assert kin < near


def test_a_page_that_is_somewhat_alike_is_believed_more_than_one_that_is_not_alike_at_all() -> None:
    sample = PageView(0, ROOT + "/p/0.html", "", decode_features(PRODUCT))
    recogniser = Recogniser([sample])
    for n in range(5):
        recogniser.show(PageView(n, f"{ROOT}/t/{n}.html", "", decode_features(TEXT)))
    half = fingerprint_structure(parse_html(CHROME.format("<div class=product><p></p></div>").encode()))
    likes = [
        recogniser.belief(PageView(9, f"{ROOT}/x/9", "", decode_features(built))) for built in (PRODUCT, half, TEXT)
    ]
    assert likes == sorted(likes, reverse=True)
    assert likes[0] > 0.5 > likes[1] > 2 * likes[2]


def test_how_a_title_ends_tells_the_kind_of_a_page() -> None:
    built = decode_features(PRODUCT)
    recogniser = Recogniser([PageView(0, ROOT + "/a1.html", "Red Namespace Reference", built)])
    for n in range(4):
        recogniser.show(PageView(n, f"{ROOT}/a{n}2.html", f"Blue{n} Class Reference", built))
        recogniser.show(PageView(n, f"{ROOT}/a{n}3.html", f"Green{n} Namespace Reference", built))
    namespace = PageView(9, ROOT + "/a9.html", "Green Namespace Reference", built)
    other = PageView(9, ROOT + "/a9.html", "Green Class Reference", built)
    assert recogniser.agreement(namespace) > recogniser.agreement(other)


def test_a_page_called_otherwise_than_the_sample_is_believed_less_though_it_is_built_the_same() -> None:
    built = decode_features(PRODUCT)
    recogniser = Recogniser([PageView(0, ROOT + "/a1.html", "Red Namespace Reference", built)])
    first = PageView(9, ROOT + "/a9.html", "Blue Class Reference", built)
    before = recogniser.belief(first)
    for n in range(4):
        recogniser.show(PageView(n, f"{ROOT}/a{n}2.html", f"Blue{n} Class Reference", built))
    recogniser.show(PageView(5, ROOT + "/", "Main Index", decode_features(TEXT)))
    assert recogniser.belief(first) < before / 2
    less = decode_features(fingerprint_structure(parse_html(CHROME.format("<div class=product></div>").encode())))
    namesake = PageView(9, ROOT + "/a9.html", "Green Namespace Reference", less)
    assert recogniser.belief(namesake) > recogniser.belief(first)


def test_the_same_pages_are_judged_the_same_and_move_the_same() -> None:
    def drive() -> tuple[dict[str, float], list[float]]:
        order = driven("/p/1.html")
        links = [f"/{folder}/{n}.html" for folder in ("p", "t", "c") for n in range(9)]
        order.note(page(1, "/", LISTING, *links))
        for n, link in enumerate(links[::3]):
            order.note(page(100 + 3 * n, link, PRODUCT if link.startswith("/p") else TEXT))
        return order.matches, list(order.pop_rank_gains().values())

    assert drive() == drive()


def test_a_page_without_a_signature_is_not_recognised() -> None:
    order = driven("/p/1.html")
    order.take_in(page(5, "/p/5.pdf", b""))
    assert order.matches == {}


def test_templates_are_learned_as_pages_come_in() -> None:
    recogniser = Recogniser([PageView(0, ROOT + "/p/0.html", "", decode_features(PRODUCT))])
    for n in range(60):
        recogniser.show(PageView(n, f"{ROOT}/p/{n}.html", "", decode_features(PRODUCT)))
        recogniser.show(PageView(n, f"{ROOT}/t/{n}.html", "", decode_features(TEXT)))
    assert recogniser.model is not None
    assert recogniser.model.count == 2
    assert recogniser.wants(PageView(1, ROOT + "/p/999.html", "", decode_features(PRODUCT)))
    assert not recogniser.wants(PageView(1, ROOT + "/t/999.html", "", decode_features(TEXT)))


def test_hubs_and_matches_that_a_migrant_kept_are_called_home_once() -> None:
    order = driven("/p/0.html")
    deals = [(100 + n, Link(Url(f"{ROOT}/p/{n}.html"), tag_path="ul.all>li")) for n in range(1, 4)]
    order.learn(CrawledPage(1, Url(ROOT + "/"), (), structure_fingerprint=LISTING, links=deals, is_parked=True))
    order.learn(CrawledPage(2, Url(ROOT + "/us.html"), (), structure_fingerprint=TEXT, is_parked=True))
    for id_, link in deals:
        order.learn(CrawledPage(id_, link.url, (), structure_fingerprint=PRODUCT, is_parked=id_ == 103))
    order.pop_rank_gains()
    assert order.calls() == {1, 103}
    assert order.calls() == set()


def test_a_brief_says_what_is_rare_among_the_pages_seen() -> None:
    order = driven("/p/0.html")
    for n in range(30):
        order.take_in(page(n + 1, f"/t/{n}", TEXT))
    brief = order.build_template_filter()
    assert has_matching_structure(brief, PRODUCT)
    assert not has_matching_structure(brief, TEXT)
    assert not has_matching_structure(brief, b"")


def test_a_page_without_a_name_is_nearer_to_another_than_one_of_a_kind_that_is_named() -> None:
    def look(number: int, title: str) -> PageView:
        return PageView(number, f"https://api.example/a{number}.html", title, decode_features(PRODUCT))

    known = Recogniser([look(1, "Main Ideas")])
    for number in range(2, 10):
        known.show(look(number, f"name{number} Class Reference"))
    assert known.agreement(look(20, "Further Reading")) > known.agreement(look(21, "other Class Reference"))


def test_odds_and_ends_are_believed_by_a_sample_that_names_no_kind_unless_another_site_made_them() -> None:
    known = Recogniser([PageView(0, ROOT + "/ideas.html", "Main Ideas", decode_features(PRODUCT))])
    book = decode_features(
        fingerprint_structure(
            parse_html(b"<nav class=book><ol class=parts></ol></nav><section class=chapter></section>")
        )
    )
    for number, kind in enumerate(["Class", "Namespace"] * 3, 1):
        known.show(
            PageView(number, f"{ROOT}/{number}.html", f"name{number} {kind} Reference", decode_features(LISTING))
        )
        known.show(PageView(10 + number, f"{ROOT}/book/{number}.html", f"On thing{'abcdefg'[number]}", book))
    odd = PageView(20, ROOT + "/reading.html", "Further Reading", decode_features(TEXT))
    foreign = PageView(21, odd.url, odd.title, book)
    named = PageView(22, odd.url, "other Class Reference", decode_features(TEXT))
    assert known.belief(odd) >= 0.5
    assert max(known.belief(foreign), known.belief(named)) < known.belief(odd) / 2


def test_a_list_that_is_called_like_the_kind_of_the_sample_is_tried_though_no_page_links_to_it() -> None:
    sample = PageView(0, ROOT + "/a0.html", "red Box Reference", decode_features(PRODUCT))
    order = Driven(Recogniser([sample]), Navigator([sample.url]))
    asked: dict[Url, int] = {}

    def let_wait(urls: Sequence[str]) -> dict[Url, int]:
        asked.update({Url(url): 90 + number for number, url in enumerate(urls)})
        return {Url(url): asked[Url(url)] for url in urls}

    order.let_wait = let_wait
    for number in range(1, 8):
        title = "Main Ideas" if number == 1 else f"name{number} Class Reference"
        order.note(Arrival(number, f"{ROOT}/b{number}.html", title, TEXT, []))
        order.pop_rank_gains()
    assert list(asked) == [ROOT + "/boxes.html"]
    assert order.ranks[ROOT + "/boxes.html"] <= RANKS / 2
