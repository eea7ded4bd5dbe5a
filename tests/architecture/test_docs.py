"""Docs are held true: an undocumented command, setting or room fails here. `make docs` writes the first two."""

import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest

from sanderling.cli import COMMANDS
from sanderling.cli.arguments import build_parser, fill_parser, import_command
from sanderling.config.loader import load_all_settings, read_settings
from sanderling.models import Reason, UrlState

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_every_command_is_documented() -> None:
    text = (DOCS / "reference" / "commands.md").read_text()
    assert not [name for name in COMMANDS if f"## {name}\n" not in text], "run make docs"


def test_the_readme_names_every_command_and_every_part() -> None:
    text = (ROOT / "README.md").read_text()
    assert not [name for name in COMMANDS if not re.search(rf"`{name}`|sanderling {name}\b|make {name}\b", text)]
    parts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(parts) - {"numbers"} == set(re.findall(r"(?m)^\| `(\w+)` \|", text)), "numbers are for benchmarks only"


def test_every_picture_is_shown_somewhere() -> None:
    text = "".join(page.read_text() for page in (ROOT / "README.md", *DOCS.rglob("*.md")))
    assert not [path.name for path in (DOCS / "images").iterdir() if f"images/{path.name}" not in text]


def test_every_option_of_a_command_is_documented() -> None:
    sections = {part.split("\n")[0]: part for part in (DOCS / "reference" / "commands.md").read_text().split("\n## ")}
    missing = []
    for name in COMMANDS:
        parser = build_parser(f"sanderling {name}")
        fill_parser(parser, import_command(name))
        options = re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", parser.format_help())
        missing += [f"{name} {option}" for option in options if option not in sections[name]]
    assert not missing, "run make docs"


def test_every_setting_is_documented() -> None:
    text = (DOCS / "reference" / "settings.md").read_text()
    assert not [name for name in load_all_settings() if f"| `{name}` |" not in text], "run make docs"


def test_the_settings_file_in_the_docs_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text((DOCS / "reference" / "settings.md").read_text().split("```toml\n")[1].split("```")[0])
    found = read_settings({}, {"SANDERLING_EXCLUDE": "/print/\n/calendar/"}, file)
    assert found == {
        "scope": "prefix", "delay": 2.0, "max_body": 5_000_000, "exclude": ("/print/", "/calendar/"), "cookies": True
    }  # fmt: skip


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="other versions of Python lay help out in other ways")
@pytest.mark.parametrize("name", ["commands", "settings"])
def test_what_the_program_writes_of_itself_is_what_the_docs_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    write = runpy.run_path(str(ROOT / "scripts" / "generate_reference.py"))[name]
    assert (DOCS / "reference" / f"{name}.md").read_text() == write(), "run make docs"


def test_every_package_and_every_root_module_is_in_the_tables() -> None:
    text = (DOCS / "explanation" / "architecture.md").read_text()
    root = ROOT / "src/sanderling"
    packages = {path.parent.name for path in root.glob("*/__init__.py")}
    listed, _, modules = text.partition("## Packages")[2].partition("\n## ")[0].partition("Modules at the root")
    assert packages == set(re.findall(r"(?m)^\| `(\w+)` \|", listed))
    assert {path.stem for path in root.glob("*.py") if not path.stem.startswith("__")} == set(
        re.findall(r"`(\w+)`", modules)
    )


def test_every_state_and_every_reason_is_in_the_glossary() -> None:
    text = (DOCS / "reference" / "glossary.md").read_text()
    assert not [word for word in (*UrlState, *Reason) if word and f"`{word}`" not in text]


def test_every_module_the_docs_name_is_there() -> None:
    files = {str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.py"), *ROOT.glob("*/**/*.py"))}
    missing = []
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for name in re.findall(r"`([\w/]+\.py)`", page.read_text()):
            missing += [] if any(f"/{file}".endswith(f"/{name}") for file in files) else [f"{page.name}: {name}"]
    assert not missing


def test_every_picture_and_link_of_the_docs_is_there() -> None:
    broken = []
    for page in (ROOT / "README.md", *DOCS.glob("**/*.md")):
        for target in _targets(page.read_text()):
            if not target.startswith(("http://", "https://", "#", "mailto:")):
                path = page.parent / target.partition("#")[0]
                broken += [] if path.exists() else [f"{page.name}: {target}"]
    assert not broken


def test_every_heading_that_the_docs_lead_to_is_there() -> None:
    broken = []
    for page in (ROOT / "README.md", *DOCS.glob("**/*.md")):
        for target in _targets(page.read_text()):
            name, _, anchor = target.partition("#")
            if anchor and not name.startswith("http"):
                headings = re.findall(r"(?m)^#+ (.*)$", (page.parent / name if name else page).read_text())
                slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
                broken += [] if anchor in slugs else [f"{page.name}: {target}"]
    assert not broken


def _targets(text: str) -> list[str]:
    return [part.partition(")")[0].split(" ")[0] for part in text.split("](")[1:]]
