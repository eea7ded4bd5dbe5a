"""What every command shares."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.cli import COMMAND_GROUPS, COMMANDS, arguments, main
from sanderling.cli.arguments import (
    MAX_COLUMN_WIDTH,
    MEASURED_ROWS,
    can_draw,
    confirm,
    fold_line,
    parse_call,
    print_rows,
)
from sanderling.config import loader
from sanderling.urls.scope import is_wildcard_match


def test_a_table_lines_its_columns_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([("a", 1, "x y"), ("long", None, ""), ("b", True, False)], ("one", "two", "three"))
    seen = capsys.readouterr()
    assert seen.out.splitlines() == ["one   two  three", "a     1    x y", "long       ", "b     yes  no"]
    assert not seen.err


def test_a_long_table_begins_before_its_end_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[tuple[str, str]]:
        yield from [("a", "b")] * (MEASURED_ROWS + 1)
        assert capsys.readouterr().out.startswith("one  two\na    b\n")
        yield "much longer", "z"

    print_rows(rows(), ("one", "two"))
    assert capsys.readouterr().out.endswith("much longer  z\n")


def test_a_long_line_is_broken_for_a_person_alone() -> None:
    text = "a \033[1mtide\033[0m " + "table " * 9
    assert fold_line(text, 4) == text
    assert fold_line(text.strip(), 4, 40).splitlines() == [
        "a \033[1mtide\033[0m table table table table table", "    table table table table"
    ]  # fmt: skip
    assert fold_line("x" * 90, 4, 40) == "x" * 90, "no word is broken"


def test_one_long_cell_does_not_push_the_others_away(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([("x" * 500, "a"), ("b", "c")], ("one", "two"))
    assert capsys.readouterr().out.splitlines()[2] == "b" + " " * (MAX_COLUMN_WIDTH + 1) + "c"


def test_flags_may_stand_between_what_else_is_given() -> None:
    call, _ = parse_call(["diff", "https://example.org/", "--html", "1", "-C", "birds", "3"], COMMAND_GROUPS)
    assert (call.args.url, call.args.version, call.args.html) == ("https://example.org/", ["1", "3"], True)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("--limt", "; did you mean --limit? (see"), ("--depth", " (see"), ("-x", " (see"), ("--zzz", " (see")],
)
def test_a_flag_that_is_none_is_told_what_it_looks_like_if_anything(
    typed: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pages", typed, "2"]) == 4
    assert f"'{typed}' is not a known argument{hint} sanderling pages --help)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--via", "--migrant"),
        ("--migrants", "--workers"),
        ("-w", "--workers"),
        ("--max-pages", "--limit"),
        ("--pageLimit", "--limit"),
        ("--page-limit", "--limit"),
        ("--timeLimit", "--time-limit"),
        ("--seedFile", "--seed-file"),
        ("--scopeType", "--scope"),
        ("--wait", "--delay"),
        ("--insecure", "--insecure-host"),
        ("--statsFilename", "--json"),
    ],
)
def test_a_flag_of_another_crawler_is_told_what_it_is_called_here(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crawl", "http://x.org/", typed, "2"]) == 4
    assert f"'{typed}' is not a known argument; did you mean {meant}? (see" in capsys.readouterr().err


def test_what_other_crawlers_call_a_setting_or_a_command_is_known_here() -> None:
    assert {name for name in arguments.COMMAND_SYNONYMS if name in COMMANDS} == set()
    assert {meant.partition(" ")[0] for meant in arguments.COMMAND_SYNONYMS.values()} <= {*COMMANDS, "--version"}
    assert set(loader.SETTING_ALIASES.values()) <= {*loader.load_all_settings(), "json", "verbose"}


def test_a_command_of_another_crawler_is_told_what_does_it_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "http://x.org/"]) == 4
    assert "there is no command 'fetch'; did you mean sanderling check parse?" in capsys.readouterr().err


def test_the_collection_and_the_file_of_settings_may_be_set_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def asked(*words: str) -> str:
        assert main(["status", *words]) == 4
        return capsys.readouterr().err.partition(";")[0].rpartition(" ")[2]

    assert asked() == "collection"
    Path("sanderling.toml").write_text('collection = "named"\n')
    Path("other.toml").write_text('collection = "another"\n')
    assert asked() == "named"
    monkeypatch.setenv("SANDERLING_SETTINGS", "other.toml")
    assert asked() == "another"
    assert asked("--settings", "sanderling.toml") == "named"
    monkeypatch.setenv("SANDERLING_COLLECTION", "mine")
    assert asked() == "mine"
    assert asked("-C", "his") == "his"


@pytest.mark.parametrize(("term", "moves"), [("xterm", True), ("dumb", False)])
def test_a_terminal_that_knows_letters_alone_gets_them_alone(
    term: str, moves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert can_draw(sys.stderr) is moves


def test_at_most_so_many_is_a_number_of_things(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("-1", "two", "1.5"):
        assert main(["pages", f"--first={wrong}", "-C", str(tmp_path)]) == 4
        assert f"{wrong!r} is not a non-negative whole number" in capsys.readouterr().err


def test_an_empty_table_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([], ("one", "two"), "nothing is due")
    seen = capsys.readouterr()
    assert (seen.out, seen.err) == ("one  two\n", "nothing is due\n")


@pytest.mark.parametrize("flag", [["changes", "--min-significance"], ["similar", "https://a.example/", "--threshold"]])
def test_a_share_lies_between_0_and_1(flag: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("7", "-0.1", "nan", "much"):
        assert main([*flag, wrong]) == 4
        assert f"{wrong!r} is not a number between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "agreed"), [("y\n", True), (" YES \n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_only_a_yes_is_one_and_the_question_is_no_result(
    typed: str, agreed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert confirm("sure?") is agreed
    shown = capsys.readouterr()
    assert (shown.out, shown.err.rstrip("\n")) == ("", "sure? [y/N] ")


@pytest.mark.parametrize(
    ("pattern", "text", "is_meant"),
    [
        ("http://[::1]/*", "http://[::1]/a", True),
        ("http://a/?b[]=1", "http://a/?b[]=1", True),
        ("http://a/?", "http://a/b", False),
        ("*/docs/*", "http://a/docs/b", True),
        ("*/docs", "http://a/docs/b", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_in_a_pattern_a_star_stands_for_anything_and_all_else_for_itself(
    pattern: str, text: str, is_meant: bool
) -> None:
    assert is_wildcard_match(text, pattern) is is_meant
