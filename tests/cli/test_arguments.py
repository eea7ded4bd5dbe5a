"""Test arguments, tables, and confirmation of all commands."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.cli import arguments, main
from sanderling.cli.arguments import (
    MAX_COLUMN_WIDTH,
    MEASURED_ROWS,
    can_draw,
    confirm,
    fold_line,
    parse_call,
    print_rows,
)
from sanderling.cli.commands import COMMAND_GROUPS, COMMANDS
from sanderling.config import loader
from sanderling.urls.scope import is_wildcard_match


def test_table_columns_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([("a", 1, "x y"), ("long", None, ""), ("b", True, False)], ("one", "two", "three"))
    seen = capsys.readouterr()
    assert seen.out.splitlines() == ["one   two  three", "a     1    x y", "long       ", "b     yes  no"]
    assert not seen.err


def test_long_table_is_streamed(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[tuple[str, str]]:
        yield from [("a", "b")] * (MEASURED_ROWS + 1)
        assert capsys.readouterr().out.startswith("one  two\na    b\n")
        yield "much longer", "z"

    print_rows(rows(), ("one", "two"))
    assert capsys.readouterr().out.endswith("much longer  z\n")


def test_long_line_is_wrapped_only_in_a_terminal() -> None:
    text = "a \033[1mtide\033[0m " + "table " * 9
    assert fold_line(text, 4) == text
    assert fold_line(text.strip(), 4, 40).splitlines() == [
        "a \033[1mtide\033[0m table table table table table", "    table table table table"
    ]  # fmt: skip
    assert fold_line("x" * 90, 4, 40) == "x" * 90, "no word is broken"


def test_long_cell_does_not_widen_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([("x" * 500, "a"), ("b", "c")], ("one", "two"))
    assert capsys.readouterr().out.splitlines()[2] == "b" + " " * (MAX_COLUMN_WIDTH + 1) + "c"


def test_flags_may_follow_positional_arguments() -> None:
    call, _ = parse_call(["diff", "https://example.org/", "--html", "1", "-C", "birds", "3"], COMMAND_GROUPS)
    assert (call.args.url, call.args.version, call.args.html) == ("https://example.org/", ["1", "3"], True)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("--limt", "; did you mean --limit? (see"), ("--depth", " (see"), ("-x", " (see"), ("--zzz", " (see")],
)
def test_unknown_flag_is_answered_with_a_similar_flag(
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
def test_flag_of_another_crawler_is_answered_with_ours(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crawl", "http://x.org/", typed, "2"]) == 4
    assert f"'{typed}' is not a known argument; did you mean {meant}? (see" in capsys.readouterr().err


def test_settings_and_commands_of_other_crawlers_have_a_hint() -> None:
    assert {name for name in arguments.COMMAND_SYNONYMS if name in COMMANDS} == set()
    assert {meant.partition(" ")[0] for meant in arguments.COMMAND_SYNONYMS.values()} <= {*COMMANDS, "--version"}
    meanings = {name for names in loader.SETTING_ALIASES.values() for name in names.split("|")}
    assert meanings <= {*loader.load_all_settings(), "json", "verbose", "follow", "delete"}


def test_command_of_another_crawler_is_answered_with_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "http://x.org/"]) == 4
    assert "there is no command 'fetch'; did you mean sanderling check parse?" in capsys.readouterr().err


def test_collection_and_settings_file_may_be_set_in_the_environment(
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
def test_ascii_terminal_gets_ascii_only(term: str, moves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert can_draw(sys.stderr) is moves


def test_limit_is_a_whole_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("-1", "two", "1.5"):
        assert main(["pages", f"--first={wrong}", "-C", str(tmp_path)]) == 4
        assert f"{wrong!r} is not a non-negative whole number" in capsys.readouterr().err


def test_empty_table_prints_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([], ("one", "two"), "nothing is due")
    seen = capsys.readouterr()
    assert (seen.out, seen.err) == ("one  two\n", "nothing is due\n")


@pytest.mark.parametrize("flag", [["changes", "--min-significance"], ["similar", "https://a.example/", "--threshold"]])
def test_share_is_between_0_and_1(flag: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("7", "-0.1", "nan", "much"):
        assert main([*flag, wrong]) == 4
        assert f"{wrong!r} is not a number between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "agreed"), [("y\n", True), (" YES \n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_only_yes_confirms_and_the_question_is_printed_to_stderr(
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
def test_only_the_star_is_special_in_a_pattern(pattern: str, text: str, is_meant: bool) -> None:
    assert is_wildcard_match(text, pattern) is is_meant
