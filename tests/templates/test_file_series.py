"""File names that go on after others."""

from sanderling.templates.file_series import companions, series, tellers


def urls(*names: str) -> list[str]:
    return [f"http://docs.example.org/{name}.html" for name in names]


def test_a_page_has_beside_it_what_goes_on_after_its_name() -> None:
    names = [f"c{n}{more}" for n in range(4) for more in ("", "-members")]
    assert companions(urls(*names, "d-members")) == {"-members": 0b01010101}


def test_what_stands_beside_few_pages_is_no_company() -> None:
    assert companions(urls("a", "a-x", "b", "b-x", "c", "c-x")) == {}


def test_a_series_goes_on_within_its_kind() -> None:
    pages = urls("functions", "functions_vars", "globals", "globals_vars", "globals_vars_b", "alone")
    kinds = {"Data Fields": 0b000011, "Globals": 0b011100, "Other": 0b100000}
    assert series(kinds, pages) == {"Data Fields", "Globals"}


def test_a_page_of_another_kind_begins_no_series() -> None:
    assert series({"Source File": 0b10}, urls("a_8h", "a_8h_source")) == frozenset()


def test_names_without_an_ending_go_on_too_whatever_dots_the_host_has() -> None:
    names = [f"c{n}{more}" for n in range(4) for more in ("", "-members")]
    pages = [f"https://docs.example.org/{name}" for name in names]
    assert companions(pages) == {"-members": 0b01010101}
    assert series({"All": 0b11}, pages) == {"All"}


def test_a_page_of_the_same_name_in_the_directory_below_tells_of_a_page() -> None:
    assert tellers(urls("p/A", "p/use/A", "p/B", "q/C", "q/use/C", "q/other/C")) == {0: 1, 3: 4}
    assert tellers(urls("p/A", "q/A")) == {}
