"""How titles name the kinds of pages."""

from sanderling.templates.titles import common_ending, read_titles

SITE = [
    *[f"L: N{n} Class Reference" for n in range(6)],
    *[f"L: N{n} Class Template Reference" for n in range(6)],
    *[f"L: F{n} File Reference" for n in range(6)],
    *["L: Class Members"] * 6,
    *["L: Class Members - Functions"] * 6,
    "L: Class Members - Related Functions",
]


def test_words_that_every_title_ends_in_name_nothing() -> None:
    assert common_ending([["A", "My", "Site"], ["B", "My", "Site"], ["C", "My", "Site"]]) == ("Site", "My")
    titles = read_titles([f"{word} {kind} | My Site" for word in "abcde" for kind in ("Class Reference", "File List")])
    assert titles.kind("Foo Class Reference | My Site") == "title-ends:Class Reference"
    assert titles.kind("Alone") is None
    assert titles.kind("") is None


def test_a_word_that_the_titles_of_one_large_kind_end_in_is_not_the_name_of_the_site() -> None:
    titles = read_titles([*(f"s{n}x Struct Reference" for n in range(95)), *(f"f{n}x Source File" for n in range(5))])
    assert titles.kind("a Struct Reference") == "title-ends:Struct Reference"


def test_a_title_that_goes_on_after_another_is_named_like_it() -> None:
    titles = read_titles(SITE)
    assert titles.kind("L: Class Members - Functions") == "title-ends:Class Members"
    assert titles.kind("L: Class Members - Related Functions") == "title-ends:Class Members"


def test_the_name_of_a_site_before_all_titles_is_none_they_go_on_after() -> None:
    titles = read_titles(["My Site"] * 5 + [f"My Site: n{n} Class Reference" for n in "abcdefgh"])
    assert titles.kind("My Site: x Class Reference") == "title-ends:Class Reference"


def test_a_name_with_a_word_put_in_is_the_name_without() -> None:
    assert read_titles(SITE).kind("L: Vec Class Template Reference") == "title-ends:Class Reference"


def test_a_word_of_content_before_a_name_is_not_part_of_it() -> None:
    assert read_titles(SITE).kind("L: File Class Reference") == "title-ends:Class Reference"


def test_kinds_are_called_by_a_word_before_whose_name_titles_differ() -> None:
    titles = read_titles([*[f"L: N{n}x Class Reference" for n in "abcdef"], *["L: Member List"] * 6, "L: Class List"])
    assert titles.telling == {"Reference"}


def test_a_title_of_one_page_is_gone_on_after_if_a_dash_stands_between() -> None:
    titles = read_titles(["L: Class Members", "L: Class Members - Functions", "L: Class Members - Variables", "L: X"])
    assert titles.kind("L: Class Members - Variables") == "title-ends:Class Members"
    titles = read_titles(["org.site.core", "org.site.core.metric", "org.site.core.rule", "com.site"])
    assert titles.kind("org.site.core.metric") == "title-ends:core metric"


def test_kinds_are_called_by_a_word_that_a_name_of_two_pages_shares_with_a_frequent_one() -> None:
    assert "Members" in read_titles([*SITE, *["L: File Members"] * 2]).telling
    assert "Members" not in read_titles([*SITE, "L: File Members"]).telling


def test_words_that_every_title_begins_with_are_no_part_of_it() -> None:
    titles = read_titles([*(f"My Site: n{n} Class Reference" for n in "abc"), *["My Site: Globals"] * 2])
    assert titles.opening == ("My", "Site")
    assert titles.kind("My Site: Globals") == "title-ends:Globals"


def test_one_word_names_a_kind_if_several_titles_are_that_word() -> None:
    titles = read_titles(["Globals", "Globals", "Modules"])
    assert titles.kind("Globals") == "title-ends:Globals"
    assert titles.kind("Modules") is None
