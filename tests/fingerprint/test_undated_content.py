"""Pages that differ only in their dates and URLs have the same undated content; all others differ."""

from calendar import HTMLCalendar, month_name
from collections.abc import Callable
from datetime import date, timedelta
from random import Random

import pytest

from sanderling.fingerprint.undated_content import hash_undated_content

GERMAN_MONTHS = [
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
]
GERMAN_DAYS = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]
SPANISH_MONTHS = [
    *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
    *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
]
ESPERANTO_MONTHS = [
    *("januaro", "februaro", "marto", "aprilo", "majo", "junio"),
    *("julio", "aŭgusto", "septembro", "oktobro", "novembro", "decembro"),
]
PAGES = 800


def day_of(number: int) -> date:
    return date(2026, 11, 1) + timedelta(number)


def count_contents(build: Callable[[int], str], url: str = "https://a.org/x?d={}") -> int:
    """Return how many different undated contents `PAGES` pages have."""
    return len(
        {
            hash_undated_content(f"<html><body>{build(number)}</body></html>".encode(), "utf-8", url.format(number))
            for number in range(PAGES)
        }
    )


@pytest.mark.parametrize(
    "layout",
    ["%d.%m.%Y", "%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%A, %d %B %Y", "%b %dth, %Y", "%Y年%m月%d日", "%B %Y", "%d %b"],
)
def test_dates_are_ignored_in_heading_and_links(layout: str) -> None:
    def build(number: int) -> str:
        before, today, after = (day_of(number + step).strftime(layout) for step in (-1, 0, 1))
        return f"<title>{today}</title><h1>{today}</h1><p>No events</p><a href=x>{before}</a><a href=y>{after}</a>"

    assert count_contents(build) == 1


def test_dates_of_other_languages_are_ignored() -> None:
    def build_german(number: int) -> str:
        day = day_of(number)
        return (
            f"<h1>{GERMAN_DAYS[day.weekday()]}, den {day.day}. {GERMAN_MONTHS[day.month - 1]} {day.year}</h1><p>Nichts"
        )

    def build_spanish(number: int) -> str:
        day = day_of(number)
        return f"<h1>{day.day} de {SPANISH_MONTHS[day.month - 1]} de {day.year}</h1><p>Nada"

    def build_without_word_list(number: int) -> str:
        day = day_of(number)
        return f"<h1>{day.day} {ESPERANTO_MONTHS[day.month - 1]}n {day.year}</h1><p>Nenio"

    assert [count_contents(build) for build in (build_german, build_spanish)] == [1, 1]
    assert count_contents(build_without_word_list) <= 12


def test_grid_of_a_month_is_ignored() -> None:
    def build(number: int) -> str:
        year, month = 2026 + number // 12, number % 12 + 1
        grid = HTMLCalendar().formatmonth(year, month)
        return f"<title>{month_name[month]} {year}</title><main>{grid}<a href=x>next month</a></main>"

    assert count_contents(build, "https://a.org/calendar?m={}") <= 2


def test_words_of_the_query_and_their_neighbors_are_ignored() -> None:
    def build(number: int) -> str:
        return f"<h1>Day {number}</h1><p>Nothing on day {number}. <a href=x>{number - 1}</a> <a href=y>{number + 1}</a>"

    assert count_contents(build) == 1
    assert count_contents(lambda number: f"<p>Wait {number:08x}a1b2", "https://a.org/r/{:08x}a1b2") == 1


def test_words_of_a_path_are_content() -> None:
    assert count_contents(lambda number: f"<p>page number {number + 1700}", "https://a.org/p{}") == PAGES


def test_other_numbers_are_content() -> None:
    def build_weather(number: int) -> str:
        random = Random(number)
        values = (random.randint(-9, 31), random.randint(-20, 20), random.randint(0, 31))
        high, low, rain = values
        rows = f"<tr><td>High<td>{high}<tr><td>Low<td>{low}<tr><td>Rain<td>{rain} mm"
        return f"<h1>Weather on {day_of(number):%A, %d %B %Y}</h1><table>{rows}</table>"

    def build_offer(number: int) -> str:
        random = Random(number)
        price = f"{random.randint(1, 99)}.{random.randint(10, 99)}"
        return f"<h1>Item {number}</h1><p>{price} Euro, {random.randint(1, 30)} kg</p>"

    def build_timetable(number: int) -> str:
        random = Random(number)
        times = (f"<tr><td>{random.randint(0, 23):02}:{random.randint(0, 59):02}<td>Line {n}" for n in range(5))
        return f"<h1>Departures</h1><table>{''.join(times)}</table>"

    assert [count_contents(build) > PAGES * 0.9 for build in (build_weather, build_offer, build_timetable)] == [
        True
    ] * 3


def test_words_images_and_embedded_data_are_content() -> None:
    words = ["river", "stone", "market", "engine", "garden", "window", "copper", "silver", "planet", "forest"]

    def build_text(number: int) -> str:
        return f"<p>{' '.join(Random(number).choices(words, k=8))}"

    def build_gallery(number: int) -> str:
        return f"<main><h1>A photo</h1><img src='/image?id={number}'></main>"

    def build_data(number: int) -> str:
        name = "".join(Random(number).choices("abcdefgh", k=9))
        return f'<div id=root></div><script type=\'application/json\'>{{"name": "{name}"}}</script>'

    assert [count_contents(build) for build in (build_text, build_gallery, build_data)] == [PAGES] * 3


def test_words_of_a_path_with_a_year_are_ignored() -> None:
    def build_weeks(number: int) -> str:
        return f"<h1>Egutegia w{number}</h1><p>Ez dago gertaerarik.</p><a href=/x>w{number + 1}</a>"

    assert count_contents(build_weeks, "https://a.org/egutegia/2026/w{}") == 1
    assert count_contents(build_weeks, "https://a.org/egutegia/w{}") == PAGES
