"""What a page is called: as a sample is, or otherwise."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.templates.title_match import Called

CLASSES = [f"lib: std::thing{name} Class Reference" for name in "abcdef"] + ["lib: Exceptions", "lib: Main Index"]


def called(sample: str, *titles: str) -> Called:
    found = Called([sample])
    for title in titles:
        found.add_title(title)
    return found


def test_pages_called_otherwise_are_told_from_those_called_as_the_sample_is() -> None:
    names = called("lib: std Namespace Reference", *CLASSES)
    assert names.match_title("lib: std::rel_ops Namespace Reference") is True
    assert names.match_title("lib: std::vector Class Reference") is False


def test_a_word_put_into_a_name_makes_no_other_kind_of_it() -> None:
    templates = [f"lib: std::other{name} Class Template Reference" for name in "abcdef"]
    names = called("lib: std::vector Class Template Reference", *CLASSES, *templates, "lib: std Namespace Reference")
    assert names.match_title("lib: std::vector Class Reference") is not False


def test_what_every_title_ends_in_is_no_name() -> None:
    names = called(
        "std Namespace Reference (Lib)", "Exceptions (Lib)", *(f"thing{n} Class Reference (Lib)" for n in "abcdef")
    )
    assert names.match_title("rel_ops Namespace Reference (Lib)") is True
    assert names.match_title("vector Class Reference (Lib)") is False


def test_a_title_of_another_form_says_nothing() -> None:
    assert called("lib: std Namespace Reference", *CLASSES).match_title("lib: Exceptions") is None


def test_a_word_that_few_titles_end_in_names_no_kinds() -> None:
    """They are about functions, and not of one kind."""
    others = [f"About the {a}{b} thing" for a in "abcd" for b in "efghi"]
    names = called(
        "List Of SQLite Functions", "Some SQL Functions", "Other SQL Functions", "All SQL Functions", *others
    )
    assert names.match_title("More SQL Functions") is None
    assert names.words() == []


def test_the_word_that_tells_the_kind_of_the_sample_is_known_when_others_are() -> None:
    names = called("lib: std Namespace Reference")
    assert names.words() == []
    for title in CLASSES:
        names.add_title(title)
    assert names.words() == ["Namespace"]


def test_a_crawl_that_finds_hardly_anything_but_wanted_pages_does_not_forget_what_they_are_called() -> None:
    names = called("lib: std Namespace Reference", *CLASSES)
    for first in "abcdefgh":
        for second in "klmnopqr":
            names.add_title(f"lib: {first}{second} Namespace Reference", wanted=True)
    assert names.words() == ["Namespace"]
    assert names.match_title("lib: std::rel_ops Namespace Reference") is True


def test_pages_that_name_no_kind_are_told_from_those_that_do_if_the_sample_names_none() -> None:
    names = called("lib: Iterators", *CLASSES, "lib: std Namespace Reference")
    assert names.is_unnamed("lib: Sorting") is True
    assert names.is_unnamed("lib: std::vector Class Reference") is False
    assert names.is_unnamed("lib: Foo Union Reference") is False


def test_who_names_no_kind_cannot_be_told_while_kinds_are_not_named_or_the_sample_names_one() -> None:
    assert called("lib: Iterators", *CLASSES).is_unnamed("lib: Sorting") is None
    named = called("lib: std Namespace Reference", *CLASSES)
    assert named.is_unnamed("lib: Sorting") is None


def test_a_title_that_several_pages_bear_is_not_unnamed() -> None:
    names = called("lib: Iterators", *CLASSES, "lib: std Namespace Reference", "lib: Member List", "lib: Member List")
    assert names.is_unnamed("lib: Member List") is None


@given(st.lists(st.text(max_size=40), max_size=30))
def test_any_titles_can_be_heard(titles: list[str]) -> None:
    names = called("a b", *titles)
    assert {names.match_title(title) for title in titles} <= {True, False, None}
    assert {names.is_unnamed(title) for title in titles} <= {True, False, None}
