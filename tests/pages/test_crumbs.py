"""Ways down from the front page, and on to the next one."""

import pytest
from tests.pages.test_trimmings import PROSE, TEXT, text_of


def test_links_above_the_title_lead_there() -> None:
    crumbs = "<ul><li><a href=/>Start</a><li><a href=/h>Law</a><li>Rules</ul>"
    assert text_of(f"<main>{crumbs}<h1>Rules</h1>{TEXT}</main>")[0] == "Rules"
    assert text_of(f"<main><p>{PROSE}</p>{crumbs}<h1>Rules</h1>{TEXT}</main>")[1:3] == ["Start", "Law"]


def test_the_name_of_the_page_at_the_end_of_the_way_is_no_text() -> None:
    crumbs = "<p><a href=/>Start</a><p>Rules</p>"
    assert text_of(f"<main>{crumbs}<h1>Rules</h1>{TEXT}</main>")[:2] == ["Rules", PROSE.format(0)]


@pytest.mark.parametrize("line", ["<a href=/>Home</a> / Help", "<a href=/n>Next article</a>", "<a href=/n>Zurück</a>"])
def test_ways_are_no_text(line: str) -> None:
    assert text_of(f"<main>{TEXT}<p>{line}</p></main>") == text_of(f"<main>{TEXT}</main>")


@pytest.mark.parametrize(
    "line",
    [
        "Next: <a href=/g>Gulls of the northern coasts</a>, Previous: <a href=/t>Terns, and where they winter</a>, "
        "Up: <a href=/b>Birds</a> &nbsp; [<a href=/>Contents</a>][<a href=/i>Index</a>]",
        "Previous: <a href=/t>Terns</a>, Up: <a href=/b>Birds</a>",
        "Up: <a href=/b>Birds</a> [<a href=/>Contents</a>]",
        "Nächste: <a href=/g>Möwen</a>",
    ],
)
def test_links_with_labels_to_the_pages_around_are_no_text(line: str) -> None:
    assert text_of(f"<main>{TEXT}<p>{line}</p></main>") == text_of(f"<main>{TEXT}</main>")


@pytest.mark.parametrize(
    "line", ["Next: read about <a href=/g>gulls</a>", "Up: <a href=/b>Birds</a> fly", "Next: gulls"]
)
def test_what_has_words_beside_such_links_is_text(line: str) -> None:
    assert len(text_of(f"<main>{TEXT}<p>{line}</p></main>")) == 41


@pytest.mark.parametrize("line", ["<a href=/>Home</a>/office", "<a href=/n>Next steps</a>", "<a href=/n>Homes</a>"])
def test_what_begins_like_a_way_is_text(line: str) -> None:
    assert len(text_of(f"<main>{TEXT}<p>{line}</p></main>")) == 41


def test_links_that_repeat_headings_are_read_there() -> None:
    heads = "<h2>1. Fares</h2><h2>2. Dogs</h2>"
    listed = "<p>Contents</p><ul><li><a href=#1>Fares</a><li><a href=#2>2. Dogs</a><li><a href=#3>Fog</a></ul>"
    assert text_of(f"<main>{listed}{TEXT}{heads}</main>")[:2] == ["Fog", PROSE.format(0)]
    assert "Fares" in text_of(f"<main>{listed}{TEXT}<h2>1. Fares</h2></main>")
