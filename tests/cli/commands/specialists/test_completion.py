import shutil
import subprocess
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.commands import COMMANDS


@pytest.mark.parametrize(("words", "found"), [("--scope d", "domain"), ("--engine r", "ray"), ("--sco", "--scope")])
def test_values_of_settings_are_completed(words: str, found: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    ask = f"COMP_WORDS=(sanderling crawl {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _shtab_sanderling"
    script = f"{capsys.readouterr().out}\n{ask}\necho ${{COMPREPLY[@]}}"
    shell = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout.split() == [found]


def test_all_commands_are_completed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    assert all(name in script for name in COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_valid(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    main(["completion", shell])
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    subprocess.run([shell, "-n", script], check=True)


def test_fish_completes_commands_and_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    main(["completion", "fish"])
    script = tmp_path / "sanderling.fish"
    script.write_text(capsys.readouterr().out)

    def complete(line: str) -> list[str]:
        command = f"source {script}; complete -C '{line}'"
        shell = subprocess.run(["fish", "--no-config", "-c", command], capture_output=True, text=True, check=True)
        return [found.partition("\t")[0] for found in shell.stdout.splitlines()]

    assert complete("sanderling cra") == ["crawl"]
    assert complete("sanderling crawl --scope d") == ["domain"]
