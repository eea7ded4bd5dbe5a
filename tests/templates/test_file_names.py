"""Kinds of pages that have one file name in directory after directory."""

from collections.abc import Sequence

import pytest

from sanderling.templates import file_names
from sanderling.templates.file_names import recurring
from sanderling.templates.learn_templates import learn_host_templates
from sanderling.templates.template_views import PageView


def packages(count: int = 3) -> list[PageView]:
    """Directories with a summary, a tree and pages of their own, which have a page of the same name below them."""
    looks: list[PageView] = []

    def add(path: str, *built: int) -> None:
        looks.append(PageView(len(looks), f"http://h/{path}.html", "", frozenset(built)))

    for n in range(count):
        add(f"p{n}/summary", 1, 2, 3, 20 + n)
        add(f"p{n}/tree", 1, 4, 5, 20 + n)
        for name in ("One", "Two"):
            add(f"p{n}/{name}{n}", 1, 6, 7)
            add(f"p{n}/use/{name}{n}", 1, 8)
    return looks


def paths(looks: list[PageView], pages: int) -> list[str]:
    return [look.url.removeprefix("http://h/") for n, look in enumerate(looks) if pages >> n & 1]


def test_a_name_that_most_directories_have_names_a_kind_even_of_two_pages() -> None:
    looks = packages(2)
    found = recurring(looks)
    assert paths(looks, found["name:summary"]) == ["p0/summary.html", "p1/summary.html"]
    assert found.keys() == {"name:summary", "name:tree"}


def test_the_one_page_that_tells_of_them_all_does_not_hide_the_kind() -> None:
    looks = packages()
    tree = PageView(90, "http://h/whole-tree.html", "", frozenset({1, 4, 5}))
    assert "name:tree" in recurring([*looks, tree])
    model = learn_host_templates([*looks, tree])
    assert model.place(tree) != model.place(looks[1])


def test_a_name_that_recurs_in_few_directories_names_no_kind() -> None:
    looks = packages()
    more = [PageView(90 + n, f"http://h/q{n}/Page{n}.html", "", frozenset({1, 9})) for n in range(12)]
    assert not recurring([*looks, *more])


def test_a_name_whose_pages_are_built_like_others_names_no_kind() -> None:
    looks = [
        PageView(n, f"http://h/d{n // 3}/{'abx'[n % 3] if n % 3 < 2 else n}", "", frozenset({1, n})) for n in range(12)
    ]
    assert not recurring(looks)


def test_a_name_that_two_kinds_of_pages_bear_names_none() -> None:
    looks = packages(5)
    alias = [
        PageView(
            90 + 2 * n + below, f"http://h/p{n}/{'use/' * below}Alias.html", "", frozenset({1, 8} if below else {1, 6})
        )
        for n in range(5)
        for below in (0, 1)
    ]
    assert recurring([*looks, *alias]).keys() == {"name:summary", "name:tree"}


def test_of_a_site_in_two_languages_few_names_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sequence[int]] = []

    def kin(here: Sequence[int], _looks: Sequence[PageView]) -> bool:
        asked.append(here)
        return False

    monkeypatch.setattr(file_names, "are_same_kind", kin)
    urls = [f"http://h/{language}/p{n}" for language in ("en", "fr") for n in range(300)]
    assert not recurring([PageView(n, url, "", frozenset({n})) for n, url in enumerate(urls)])
    assert len(asked) == file_names.MOST


def test_no_pages_have_no_kinds() -> None:
    assert recurring([]) == {}
