"""Test an installation without optional dependencies: commands start, and stored data is readable."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling import errors
from sanderling.cli import main
from sanderling.cli.commands import COMMANDS
from sanderling.errors import MissingExtra

ROOT = Path(__file__).parents[2]
BARE_SCRIPT = """
import json, sys
parts, calls = map(json.loads, sys.argv[1:])
sys.modules |= dict.fromkeys(parts)  # as if they were not there
from sanderling.cli import main
def code(call):
    try:
        return main(call)
    except SystemExit as end:
        return end.code or 0
codes = [code(call) for call in calls]
print("\\n" + json.dumps(codes))
"""
MODULES = {"argon2-cffi": "argon2", "pillow": "PIL", "ahocorasick-rs": "ahocorasick_rs"}


def list_optional_modules() -> list[str]:
    """Return the modules that the extras install."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = [line.replace("[", ">").partition(">")[0] for lines in extras.values() for line in lines]
    return [MODULES.get(name, name) for name in names]


def run_commands(*calls: list[str]) -> tuple[list[int], str]:
    """Run commands without optional modules. Returns exit codes and stderr."""
    arguments = [json.dumps(list_optional_modules()), json.dumps(calls)]
    process = subprocess.run(
        [sys.executable, "-c", BARE_SCRIPT, *arguments], capture_output=True, text=True, check=True
    )
    exit_codes: list[int] = json.loads(process.stdout.splitlines()[-1])
    return exit_codes, process.stderr


def test_every_command_has_help() -> None:
    exit_codes, stderr = run_commands(*([name, "--help"] for name in COMMANDS))
    assert exit_codes == [0] * len(COMMANDS), stderr


def test_stored_data_is_readable(tmp_path: Path) -> None:
    collection_option = ["-C", str(tmp_path)]
    markup = "<div><h2>name</h2><table><tr><td>price</td><td>3</td></tr></table><ul><li>one</li></ul></div>" * 3
    with Site({"/": html("/a", text="the tide"), "/a": html("/", text=f"the sea {markup}")}) as site:
        flags = ["--delay", "0", "--allow-private", "--quiet", "--workers", "1"]
        main(["crawl", site.root + "/", *flags, *collection_option])
        site.pages["/a"] = html("/", text=f"another sea, with other words than before {markup}")
        main(["crawl", site.root + "/", *flags, *collection_option])
        url = site.root + "/a"
    commands = [
        ["status"], ["pages"], ["show", url, "--text"], ["history", url], ["changes", "--words"], ["diff", url],
        ["links", url], ["explain", url], ["sitemap"], ["templates"], ["similar", url, "--stored"], ["url-rules"],
        ["export"], ["schedule"], ["aliases", "tide"], ["refresh", "--dry-run"], ["settings"]
    ]  # fmt: skip
    exit_codes, stderr = run_commands(
        *(call + collection_option for call in commands),
        ["search", "tide", *collection_option],
        ["serve", *collection_option],
    )
    assert exit_codes == [0] * len(commands) + [4, 4], stderr
    assert stderr.count("needs an optional part") == 2


@pytest.mark.parametrize(
    ("install_source", "install_command"),
    [
        (None, "pip install 'sanderling[search]'"),
        ('{"url": "https://a.example/x.whl"}', "pip install 'sanderling[search]'"),
        ('{"url": "file:///x.whl", "archive_info": {}}', f"{sys.executable} -m pip install '/x.whl[search]'"),
        (
            '{"url": "file:///home/me/sea%20side", "dir_info": {"editable": true}}',
            f"{sys.executable} -m pip install -e '/home/me/sea side[search]'",
        ),
    ],
)
def test_missing_extra_is_reported_with_an_install_command(
    install_source: str | None, install_command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "read_install_source", lambda: install_source)
    monkeypatch.setattr(errors, "find_spec", lambda _: True)
    assert str(MissingExtra("searching", "search")) == f"searching needs an optional part: {install_command}"


def test_hint_names_the_installer_that_made_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "read_install_source", lambda: None)
    monkeypatch.setattr(errors, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert errors.build_install_command("search") == f"uv pip install --python {sys.executable} 'sanderling[search]'"
    (tmp_path / "pipx_metadata.json").write_text("{}")
    assert errors.build_install_command("search") == f"pipx runpip {tmp_path.name} install 'sanderling[search]'"
    receipt = (
        '[tool]\nrequirements = [{ name = "sanderling", extras = ["alerts"] }, { name = "other", extras = ["x"] }]'
    )
    (tmp_path / "uv-receipt.toml").write_text(receipt)
    assert errors.build_install_command("search") == "uv tool install 'sanderling[alerts,search]'"
