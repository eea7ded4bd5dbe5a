import os
import re
import shlex
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
from tests.support.output import read_json_lines
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.cli.arguments import build_parser, fill_parser, import_command, parse_call
from sanderling.cli.commands import COMMAND_GROUPS, COMMANDS
from sanderling.errors import SanderlingError

ROOT = Path(__file__).parents[2]


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "sanderling crawl https://example.org/" in text
    assert all(name in text for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_examples_of_every_command_are_valid_calls(name: str) -> None:
    parser = build_parser(f"sanderling {name}")
    fill_parser(parser, import_command(name))
    for line in (parser.epilog or "").splitlines():
        if line.startswith("  sanderling "):
            assert not re.search(r"\S {2,}[^#\s]", line), f"what stands behind this example is a part of it: {line}"
            _, *words = takewhile(lambda word: word not in ("&&", "|", ">"), shlex.split(line, comments=True))
            parse_call(words, COMMAND_GROUPS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert f"sanderling {name}" in text
    assert "--collection" in text
    assert import_command(name).HELP


def test_usage_error_is_a_sentence_with_exit_code_4(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for argv in (
        ["crwl"],
        ["crawl"],
        ["crawl", "ftp://x/"],
        ["crawl", "http://x/", "--scope", "galaxy"],
        ["crawl", "http://x/", "--include", "(", "-C", str(tmp_path / "c")],
        ["pages", "-C", str(tmp_path / "none")],
        ["pages", "--frst", "1"],
        ["pages", "--skipped", "--reason", "robot"],
    ):
        assert main(argv) == 4, argv
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["sitemap", "completion zsh", "experiment list", "settings", "pages", "status"])
def test_commands_print_json(command: str, crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--json", "-C", crawled_site[1]]) == 0
    assert all(isinstance(found, dict) for found in read_json_lines(capsys))


def test_common_flags_may_precede_the_command(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", crawled_site[1], "--json", "status"]) == 0
    assert read_json_lines(capsys)[0]["pages"] == 2
    assert main(["-C", "status"]) == 4
    assert "there is no command '-C'" in capsys.readouterr().err


@pytest.mark.parametrize("kilobytes", [60_000, 80_000, 300_000])
def test_crawl_with_too_little_memory_ends_with_a_sentence(tmp_path: Path, kilobytes: int) -> None:
    program = "import sys; from sanderling.cli import main; sys.exit(main())"
    with Site({"/": html("/a", text="start"), "/a": html(text="a")}) as site:
        command = [sys.executable, "-c", program, "crawl", site.root + "/", "-C", str(tmp_path), "--allow-private"]
        done = subprocess.run(
            ["sh", "-c", f'ulimit -v {kilobytes} && exec "$@"', "sh", *command, "--delay", "0"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert "Traceback" not in done.stderr
    if done.returncode:  # enough memory is a matter of chance: libraries are loaded when they are needed
        assert done.returncode == SanderlingError.exit_code
        assert done.stderr.splitlines()[-1].startswith("sanderling: not enough memory (")
