"""URLs that nobody linked to yet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.templates.url_guess import Guesses, find_step, guess_list_url

HOST = "https://shop.example"


@pytest.mark.parametrize(
    ("source", "target", "other", "there"),
    [
        ("/a/index.html", "/a/reviews.html", "/b/index.html", "/b/reviews.html"),
        ("/x/Foo.html", "/x/Foo-members.html", "/y/Bar.html", "/y/Bar-members.html"),
        ("/x/Foo.html", "/x/use/Foo.html", "/y/z/Bar.html", "/y/z/use/Bar.html"),
        ("/api/x/Foo.html", "/source/x/Foo.html", "/api/y/Bar.html", "/source/y/Bar.html"),
        ("/x/Foo.html", "/source/x/Foo.html", "/y/Bar.html", "/source/y/Bar.html"),
    ],
)
def test_a_step_is_taken_from_another_url(source: str, target: str, other: str, there: str) -> None:
    step = find_step(HOST + source, HOST + target)
    assert step is not None
    assert step.take(HOST + source) == HOST + target
    assert step.take(HOST + other) == HOST + there


def test_no_step_leads_to_another_host_or_far_away() -> None:
    assert find_step(HOST + "/a.html", "https://else.example/b.html") is None
    assert find_step(HOST + "/a.html", HOST + "/a.html") is None
    assert find_step(HOST + "/a.html", HOST + "/a.html?x=1") is None
    assert find_step(HOST + "/a.html", HOST + "/b/c/d/e.html") is None


def hub(n: int) -> str:
    return f"{HOST}/item/{n}/index.html"


def wanted(n: int) -> str:
    return f"{HOST}/item/{n}/reviews.html"


def taught() -> Guesses:
    guesses = Guesses()
    guesses.see(HOST + "/", [HOST + "/help/index.html", *(hub(n) for n in range(9))])
    for n in range(2):
        guesses.see(hub(n), [wanted(n)])
        guesses.learn(wanted(n), [hub(n)], wanted=True)
    return guesses


def test_what_led_from_hubs_to_wanted_pages_twice_is_tried_from_others() -> None:
    guesses = taught()
    assert guesses.venture() == [wanted(2), wanted(3)]
    assert guesses.venture() == []  # they have no answer yet
    guesses.learn(wanted(2), [], wanted=True)
    assert guesses.venture() == [wanted(4), wanted(5), wanted(6)]


def test_guesses_that_come_to_nothing_are_given_up() -> None:
    guesses = taught()
    for _ in range(20):
        for url in guesses.venture():
            guesses.learn(url, [], wanted=False)
    assert sum(map(guesses.known.__contains__, map(wanted, range(2, 9)))) <= 4


def test_guesses_begin_where_urls_are_like_those_that_led_somewhere() -> None:
    assert HOST + "/help/reviews.html" not in taught().venture()


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_urls_have_a_step_that_leads_from_one_to_the_other_or_none(one: str, other: str) -> None:
    source, target = f"{HOST}/{one}", f"{HOST}/{other}"
    step = find_step(source, target)
    assert step is None or step.take(source) is not None


def test_a_list_beside_a_page_is_called_by_the_word_for_several_and_ends_as_the_page_does() -> None:
    assert guess_list_url("http://site/api/a17.html", "Concept") == "http://site/api/concepts.html"
    assert guess_list_url("http://site/api/a17.html", "Class") == "http://site/api/classes.html"
    assert guess_list_url("http://site/api/a17.html", "Directory") == "http://site/api/directories.html"
    assert guess_list_url("http://site/shop/17", "Day") == "http://site/shop/days"
