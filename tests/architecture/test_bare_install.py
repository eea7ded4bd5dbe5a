"""An installation without any optional part: every command starts, and what is stored can be read."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling import errors
from sanderling.cli import COMMANDS, main
from sanderling.errors import MissingExtra

ROOT = Path(__file__).parents[2]
BARE = """
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


def optional_parts() -> list[str]:
    """What the extras bring, by the names it is imported under."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = [line.replace("[", ">").partition(">")[0] for lines in extras.values() for line in lines]
    return [MODULES.get(name, name) for name in names]


def codes(*calls: list[str]) -> tuple[list[int], str]:
    """Run commands where nothing optional can be imported."""
    words = [json.dumps(optional_parts()), json.dumps(calls)]
    done = subprocess.run([sys.executable, "-c", BARE, *words], capture_output=True, text=True, check=True)
    found: list[int] = json.loads(done.stdout.splitlines()[-1])
    return found, done.stderr


def test_every_command_says_how_it_is_used() -> None:
    found, said = codes(*([name, "--help"] for name in COMMANDS))
    assert found == [0] * len(COMMANDS), said


def test_what_is_stored_can_be_read(tmp_path: Path) -> None:
    at = ["-C", str(tmp_path)]
    built = "<div><h2>name</h2><table><tr><td>price</td><td>3</td></tr></table><ul><li>one</li></ul></div>" * 3
    with Site({"/": html("/a", text="the tide"), "/a": html("/", text=f"the sea {built}")}) as site:
        flags = ["--delay", "0", "--allow-private", "--quiet", "--workers", "1"]
        main(["crawl", site.root + "/", *flags, *at])
        site.pages["/a"] = html("/", text=f"another sea, with other words than before {built}")
        main(["crawl", site.root + "/", *flags, *at])
        url = site.root + "/a"
    reading = [["status"], ["pages"], ["show", url, "--text"], ["history", url], ["changes", "--words"], ["diff", url],
               ["links", url], ["explain", url], ["sitemap"], ["templates"], ["similar", url, "--stored"],
               ["url-rules"],
               ["export"], ["schedule"], ["aliases", "tide"], ["refresh", "--dry-run"], ["settings"]]  # fmt: skip
    found, said = codes(*(call + at for call in reading), ["search", "tide", *at], ["serve", *at])
    assert found == [0] * len(reading) + [4, 4], said
    assert said.count("needs an optional part") == 2


@pytest.mark.parametrize(
    ("told", "how"),
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
def test_who_misses_a_part_is_told_how_to_get_it(told: str | None, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "read_install_source", lambda: told)
    monkeypatch.setattr(errors, "find_spec", lambda _: True)
    assert str(MissingExtra("searching", "search")) == f"searching needs an optional part: {how}"


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
