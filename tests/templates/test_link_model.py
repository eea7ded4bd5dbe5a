"""Navigation patterns: which links lead to wanted pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.templates.link_model import (
    ABOVE,
    PROMISING,
    LinkSeen,
    Navigator,
    kinds_of,
    name_words,
    nearby,
    parents_of,
)

SAMPLE = "https://shop.example/p/red-chair.html"


def product(n: int, anchor: str = "Buy") -> LinkSeen:
    return LinkSeen(f"https://shop.example/p/thing-{n}.html", anchor, "https://shop.example/c/all.html")


def other(n: int) -> LinkSeen:
    return LinkSeen(f"https://shop.example/help/topic{n}.html", "Help", "https://shop.example/c/all.html")


def test_a_link_that_looks_like_the_sample_comes_first() -> None:
    navigator = Navigator([SAMPLE])
    assert navigator.score(product(1)) > navigator.score(other(1))


def test_what_was_found_teaches() -> None:
    navigator = Navigator([SAMPLE])
    before = navigator.score(product(9)) - navigator.score(other(9))
    for n in range(5):
        navigator.learn(product(n), wanted=True)
        navigator.learn(other(n), wanted=False)
    assert navigator.score(product(9)) - navigator.score(other(9)) > before
    assert navigator.chance(product(9)) >= PROMISING
    assert navigator.chance(other(9)) < PROMISING


def test_a_link_without_what_all_wanted_links_have_is_not_promising() -> None:
    navigator = Navigator([SAMPLE])
    for n in range(10):
        navigator.learn(product(n), wanted=True)
        navigator.learn(LinkSeen(f"https://shop.example/c/kind{n}.html", "Kinds"), wanted=False)
    strange = LinkSeen("https://shop.example/imprint.html", "Imprint")
    assert navigator.chance(strange) < navigator.chance(product(77))
    assert navigator.chance(strange) < PROMISING


def test_a_page_that_brings_many_promising_links_is_a_hub() -> None:
    navigator = Navigator([SAMPLE])
    for name in ("chairs", "lamps", "beds"):
        hub = LinkSeen(f"https://shop.example/c/{name}.html", name)
        navigator.learn(hub, wanted=False)
        navigator.follow(hub, brought=12)
        navigator.follow(other(len(name)), brought=0)
    another = LinkSeen("https://shop.example/c/tables.html", "tables")
    assert navigator.score(another) > 0.5 > navigator.score(other(9))
    assert navigator.chance(another) < PROMISING


def test_a_kind_of_link_never_tried_is_worth_a_try_and_less_after_each() -> None:
    navigator = Navigator([SAMPLE])
    link = LinkSeen("https://shop.example/a/b/c/d", place="div.side>ul")
    first = navigator.novelty(link)
    navigator.note_tried(link)
    assert first > navigator.novelty(link) > 0


def test_words_that_are_written_together_are_told_apart() -> None:
    assert name_words("namespaceGlib_1_1Threads.html") == ["head:namespace", "tail:Threads"]
    assert name_words("ch35s02.html") == ["head:ch", "tail:#"]
    assert name_words("index.html") == []


def test_a_class_that_was_made_for_one_element_does_not_part_a_list() -> None:
    one, other, far = (
        kinds_of(LinkSeen(SAMPLE, "", "https://shop.example/", f"tr.item:{mark}>td"))
        for mark in ("a01656", "a01657", "ga32db3d9898c44d3b")
    )
    assert one == other
    assert one != far


def test_every_other_row_of_a_table_belongs_to_the_same_list() -> None:
    stripes = ("tbody>tr.even>td", "tbody>tr.odd>td", "tbody>tr.even-row-color>td", "tbody>tr>td")
    assert len({kinds_of(LinkSeen(SAMPLE, "", SAMPLE, place))[-1] for place in stripes}) == 1
    events = LinkSeen(SAMPLE, "", SAMPLE, "tbody>tr.event>td")
    assert kinds_of(events)[-1].endswith("tr.event>td")


def test_what_few_links_say_and_a_sample_too_brings_them_nearer() -> None:
    navigator = Navigator(["https://api.example/namespaceOne.html"])
    kin = LinkSeen("https://api.example/namespaceTwo.html", place="ul>li")
    stranger = LinkSeen("https://api.example/classOne.html", place="ul>li")
    before = navigator.novelty(kin) / navigator.novelty(stranger)
    navigator.note_shown([LinkSeen(f"https://api.example/class{n}One.html") for n in range(50)])
    assert navigator.novelty(kin) / navigator.novelty(stranger) > before


@pytest.mark.parametrize(
    ("entry", "entries"),
    [
        ("Namespace", "namespaces"),
        ("Class", "classes"),
        ("Property", "properties"),
        ("Library", "libraries"),
        ("Index", "indexes"),
        ("Database", "databases"),
    ],
)
def test_a_link_called_as_the_wanted_pages_are_may_lead_to_their_list(entry: str, entries: str) -> None:
    navigator = Navigator(["https://lib.example/a01729.html"])
    named, other = (LinkSeen(f"https://lib.example/{name}.html", "List") for name in (entries, "files"))
    assert navigator.novelty(named) == navigator.novelty(other)
    navigator.heed([entry])
    assert navigator.novelty(named) > 2 * navigator.novelty(other)


def test_the_directory_a_sample_is_in_is_tried_early_by_either_of_its_names() -> None:
    navigator = Navigator(["https://lib.example/user/a01729.html"])
    for url in ("https://lib.example/user/", "https://lib.example/user/index.html"):
        assert navigator.score(LinkSeen(url)) >= ABOVE
    assert navigator.score(LinkSeen("https://lib.example/admin/")) < ABOVE


def test_numbers_are_near_each_other_at_several_distances() -> None:
    assert nearby("a13819.html") == ["near:a1381", "near:a138", "near:a13"]
    assert nearby("chapter-2.html") == []


def test_the_directories_above_a_page_end_at_the_home_page() -> None:
    assert parents_of("https://a.example/one/two/page.html?x=1") == [
        "https://a.example/one/two/",
        "https://a.example/one/",
        "https://a.example/",
    ]
    assert parents_of("https://a.example/one/") == ["https://a.example/"]
    assert parents_of("https://a.example/") == []
    deep = parents_of("https://a.example/1/2/3/4/5/6/7/page")
    assert len(deep) == 4
    assert deep[-1] == "https://a.example/"


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_any_link_has_a_score_between_nothing_and_one(path: str, anchor: str, place: str) -> None:
    navigator = Navigator([SAMPLE])
    link = LinkSeen("https://shop.example/" + path, anchor, SAMPLE, place)
    assert 0 <= navigator.score(link) <= 1
    navigator.learn(link, wanted=False)
    navigator.follow(link, brought=3)
    assert 0 <= navigator.score(link) <= 1
