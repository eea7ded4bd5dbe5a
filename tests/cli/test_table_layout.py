"""Tables fit the terminal without breaking words; elsewhere a row is a line."""

import sys

import pytest

from sanderling.cli import arguments
from sanderling.cli.arguments import print_rows
from sanderling.cli.table_layout import format_row, plan_layout

URL = "https://example.org/documentation/reference/a-long-name-of-a-page/index.html"
HEADER = ("seen at", "score", "url", "change")
ROWS = [("2026-11-19", "1.00", URL, "content; " + "paragraph " * 20), ("2026-11-20", "0.50", "https://a.org/", "link")]


def test_long_columns_go_below_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(arguments, "can_draw", lambda stream: stream is sys.stdout)
    monkeypatch.setenv("COLUMNS", "80")
    print_rows(ROWS, HEADER)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == ["seen at     score", "    url", "    change", "2026-11-19  1.00", f"    {URL}"]
    assert max(map(len, lines)) <= 80
    assert lines[-3:] == ["2026-11-20  0.50", "    https://a.org/", "    link"]


def test_rows_are_lines_in_a_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_rows(ROWS, HEADER)
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("room", [30, 40, 80, 200])
def test_words_are_never_broken(room: int) -> None:
    layout = plan_layout([HEADER, *ROWS], 60, room)
    for row in [HEADER, *ROWS]:
        text = format_row(row, layout, room)
        assert sorted(text.split()) == sorted(" ".join(row).split())
        assert all(len(line) <= room or " " not in line.strip() for line in text.splitlines())


def test_table_that_fits_stays_as_it_is() -> None:
    rows = [("a", "bb", "c"), ("dddd", "", "e f")]
    layout = plan_layout(rows, 60, 80)
    assert [format_row(row, layout, 80) for row in rows] == ["a     bb  c", "dddd      e f"]
