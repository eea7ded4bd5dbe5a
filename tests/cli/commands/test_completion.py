import subprocess

import pytest

from sanderling.cli import COMMANDS, main


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
