"""What every command shares."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.frame import MEASURED, print_rows


def test_a_table_lines_its_columns_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([("a", 1, "x y"), ("long", None, "")], ("one", "two", "three"))
    seen = capsys.readouterr()
    assert seen.out.splitlines() == ["one   two  three", "a     1    x y", "long       "]
    assert not seen.err


def test_a_long_table_begins_before_its_end_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[tuple[str, str]]:
        yield from [("a", "b")] * (MEASURED + 1)
        assert capsys.readouterr().out.startswith("one  two\na    b\n")
        yield "much longer", "z"

    print_rows(rows(), ("one", "two"))
    assert capsys.readouterr().out.endswith("much longer  z\n")


def test_at_most_so_many_is_a_number_of_things(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("-1", "two", "1.5"):
        assert main(["pages", f"--first={wrong}", "-C", str(tmp_path)]) == 4
        assert f"{wrong!r} is no whole number from 0 on" in capsys.readouterr().err


def test_an_empty_table_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([], ("one", "two"), "nothing is due")
    seen = capsys.readouterr()
    assert (seen.out, seen.err) == ("one  two\n", "nothing is due\n")


@pytest.mark.parametrize("flag", [["changes", "--min-significance"], ["like", "https://a.example/", "--threshold"]])
def test_a_share_lies_between_0_and_1(flag: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("7", "-0.1", "nan", "much"):
        assert main([*flag, wrong]) == 4
        assert f"{wrong!r} is no number from 0 to 1" in capsys.readouterr().err
