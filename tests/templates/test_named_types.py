"""Kinds of pages that a site names itself."""

from msgspec.structs import replace

from sanderling.templates.learn_templates import learn_host_templates
from sanderling.templates.named_types import MOST, SMALL, explained
from sanderling.templates.page_sets import build_page_sets
from sanderling.templates.split import divide
from sanderling.templates.template_views import PageView

KINDS = {"Class Reference": {1, 2}, "File Reference": {1, 3}, "Member List": {1, 4}}


def site(each: int = 20, ending: str = "") -> list[PageView]:
    """Pages of three kinds; what half of the classes have, and their titles tell, is no kind."""
    looks: list[PageView] = []
    for kind, (name, built) in enumerate(KINDS.items()):
        for n in range(each):
            extra = {9, 10} if kind == 0 and n % 2 else set[int]()
            title = f"{'Widget' if extra else 'Thing'} n{kind} {name}{ending}"
            looks.append(PageView(len(looks), f"http://h/{kind}x{n}", title, frozenset(built | extra)))
    return looks


def test_pages_that_are_called_the_same_are_not_divided() -> None:
    model = learn_host_templates(site())
    assert model.count == 3
    assert len({model.place(look) for look in site() if "Class" in look.title}) == 1


def test_a_page_that_comes_later_is_placed_by_its_name() -> None:
    model = learn_host_templates(site())
    late = PageView(99, "http://h/late", "Late Member List", frozenset({1, 4}))
    assert model.place(late) == model.place(site()[-1])


def test_names_that_say_nothing_of_structure_name_no_kinds() -> None:
    looks = [
        PageView(n, f"http://h/{n}", f"x {'Big Red' if n % 3 else 'Small Blue'} {'Hat' if n % 2 else 'Shoe'}",
             frozenset({1, 2 if n % 5 else 3})) for n in range(60)
    ]  # fmt: skip
    assert not build_page_sets(looks).kinds


def test_a_site_where_every_page_has_a_name_has_no_rest() -> None:
    parts = divide(build_page_sets(site()))[1]
    assert sum(part.bit_count() for part in parts) == 60
    assert (
        learn_host_templates(site()).place(PageView(99, "http://h/other", "Something else", frozenset({1})))
        < learn_host_templates(site()).count
    )


def test_the_few_that_have_no_name_are_one_kind() -> None:
    others = [PageView(100 + n, f"http://h/{'ab'[n % 2]}/{n}", f"T{n}", frozenset({1, 20 + n % 2})) for n in range(6)]
    model = learn_host_templates(site() + others)
    assert len({model.place(look) for look in others}) == 1


def test_parts_explain_what_they_foretell_and_nothing_else() -> None:
    half, crossed = (1 << 32) - 1, sum(1 << n for n in range(0, 64, 2))
    assert explained([half], {5: half}, 64) > 0.9
    assert explained([half], {5: crossed}, 64) == 0.0


def test_a_page_that_has_the_name_of_a_kind_is_no_stray_of_it() -> None:
    model = learn_host_templates(site(each=60))
    assert model.place(PageView(999, "http://h/bare", "Bare Class Reference", frozenset({1, 50, 51}))) < model.count


def test_one_page_is_a_kind_if_it_is_called_like_one() -> None:
    single = PageView(999, "http://h/single", "Single Union Reference", frozenset({1, 60, 61}))
    looks = [*site(), single]
    model = learn_host_templates(looks)
    assert [look for look in looks if model.place(look) == model.place(single)] == [single]


def small_site(*more: PageView) -> list[PageView]:
    """So few pages of each kind that nothing is foretold."""
    built = {"Struct Reference": {1, 2, 3}, "Directory Reference": {1, 4, 5}, "Source File": {1, 6, 7}}
    named = [
        PageView(10 * kind + n, f"http://h/{kind}{n}.html", f"n{'abc'[n]}x {name}", frozenset(blocks))
        for kind, (name, blocks) in enumerate(built.items())
        for n in range(2 + (kind == 0))
    ]
    others = [PageView(50 + n, f"http://h/o{n}.html", f"T{'abcdefghi'[n]}", frozenset({1, 20 + n})) for n in range(9)]
    return [*named, *others, *more]


def test_names_of_a_small_site_are_kinds_if_their_pages_are_kin() -> None:
    names = {name.removeprefix("title-ends:") for name in build_page_sets(small_site()).kinds}
    assert names == {"Struct Reference", "Directory Reference", "Source File"}


def test_one_page_of_a_small_site_is_a_kind_if_its_name_ends_like_that_of_kin() -> None:
    single = PageView(90, "http://h/f.html", "f h File Reference", frozenset({1, 2}))
    assert "title-ends:File Reference" in build_page_sets(small_site(single)).kinds


def test_titles_of_one_word_that_are_numbered_name_no_kind_on_a_small_site() -> None:
    chairs, alike = (
        [PageView(90 + n, f"http://h/c{n}.html", title.format(n), frozenset({1, 8, 9})) for n in range(4)]
        for title in ("Chair {}", "Chair")
    )
    assert "title-ends:Chair" not in build_page_sets(small_site(*chairs)).kinds
    assert "title-ends:Chair" in build_page_sets(small_site(*alike)).kinds


def test_single_pages_of_a_small_site_are_no_kinds_if_there_are_too_many_of_them() -> None:
    words = [f"{a}{b}q" for a in "abcdefgh" for b in "abcdefghi"]
    singles = [
        PageView(90 + n, f"http://h/s{n}.html", f"s {word} Reference", frozenset({1, 100 + n}))
        for n, word in enumerate(words)
    ]
    assert len(build_page_sets(small_site(*singles[: MOST - 3])).kinds) == MOST
    names = {name.removeprefix("title-ends:") for name in build_page_sets(small_site(*singles)).kinds}
    assert names == {"Struct Reference", "Directory Reference", "Source File"}


def test_names_are_no_kinds_where_pages_of_most_are_not_kin() -> None:
    words = ["Red Hat", "Blue Shoe", "Green Coat", "White Shirt"]
    unlike = [
        PageView(
            90 + n, f"http://h/u{n}.html", f"{'abc'[n % 2]}y {words[n // 2]}", frozenset({1, 40 + n % 2, 41 + n % 2})
        )
        for n in range(8)
    ]
    assert not build_page_sets(small_site(*unlike)).kinds


def test_kin_are_not_looked_for_on_a_large_site() -> None:
    others = [PageView(100 + n, f"http://h/p{n}.html", f"T{n}", frozenset({1, 20 + n % 9})) for n in range(SMALL)]
    assert not build_page_sets(small_site(*others)).kinds


def test_a_stray_of_a_small_site_is_one_whatever_it_is_called() -> None:
    assert build_page_sets(small_site()).believed == 0
    assert build_page_sets(site()).believed == 3


def test_a_title_that_all_pages_of_a_series_have_names_a_kind_of_few_pages() -> None:
    pages = [
        PageView(200 + n, f"http://docs.h/globals{more}", "Globals", frozenset({1, 30}))
        for n, more in enumerate(("", "_vars"))
    ]
    assert build_page_sets([*site(), *pages]).kinds["title-ends:Globals"].bit_count() == 2
    apart = [replace(page, url=f"http://h/{'xy'[n]}") for n, page in enumerate(pages)]
    assert "title-ends:Globals" not in build_page_sets([*site(), *apart]).kinds


def test_a_list_of_a_small_site_is_a_kind_if_its_pages_are_alike() -> None:
    for built, is_kind in (({1, 2, 30}, True), ({1, 31, 32}, False)):
        pages = [
            PageView(90 + n, f"http://h/globals{more}.html", "Globals", frozenset(blocks))
            for n, (more, blocks) in enumerate((("", {1, 2}), ("_vars", built)))
        ]
        assert ("title-ends:Globals" in build_page_sets(small_site(*pages)).kinds) is is_kind
