"""Test that the documentation is complete and its links are valid. `make docs` writes the reference."""

import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest

from sanderling.cli.arguments import build_parser, fill_parser, import_command
from sanderling.cli.commands import COMMANDS
from sanderling.config.loader import load_all_settings, read_settings
from sanderling.models import Reason, UrlState

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_every_command_is_documented() -> None:
    text = (DOCS / "reference" / "commands.md").read_text()
    assert not [name for name in COMMANDS if f"## {name}\n" not in text], "run make docs"


def test_readme_names_every_command_and_extra() -> None:
    text = (ROOT / "README.md").read_text()
    assert not [name for name in COMMANDS if not re.search(rf"`{name}`|sanderling {name}\b|make {name}\b", text)]
    parts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(parts) - {"numbers"} == set(re.findall(r"(?m)^\| `(\w+)` \|", text)), "numbers are for benchmarks only"


def test_every_image_is_used() -> None:
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


def test_settings_example_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text((DOCS / "reference" / "settings.md").read_text().split("```toml\n")[1].split("```")[0])
    found = read_settings({}, {"SANDERLING_EXCLUDE": "/print/\n/calendar/"}, file)
    assert found == {
        "scope": "prefix", "delay": 2.0, "max_body": 5_000_000, "exclude": ("/print/", "/calendar/"), "cookies": True
    }  # fmt: skip


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="argparse formats help differently in other versions")
@pytest.mark.parametrize("name", ["commands", "settings"])
def test_generated_reference_is_current(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    write = runpy.run_path(str(ROOT / "scripts" / "generate_reference.py"))[name]
    assert (DOCS / "reference" / f"{name}.md").read_text() == write(), "run make docs"


def test_every_package_and_root_module_is_documented() -> None:
    text = (DOCS / "explanation" / "architecture.md").read_text()
    root = ROOT / "src/sanderling"
    packages = {path.parent.name for path in root.glob("*/__init__.py")}
    listed, _, modules = text.partition("## Packages")[2].partition("\n## ")[0].partition("Modules at the root")
    assert packages == set(re.findall(r"(?m)^\| `(\w+)` \|", listed))
    assert {path.stem for path in root.glob("*.py") if not path.stem.startswith("__")} == set(
        re.findall(r"`(\w+)`", modules)
    )


def test_every_state_and_reason_is_in_the_glossary() -> None:
    text = (DOCS / "reference" / "glossary.md").read_text()
    assert not [word for word in (*UrlState, *Reason) if word and f"`{word}`" not in text]


def test_modules_named_in_the_docs_exist() -> None:
    files = {str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.py"), *ROOT.glob("*/**/*.py"))}
    missing = []
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for name in re.findall(r"`([\w/]+\.py)`", page.read_text()):
            missing += [] if any(f"/{file}".endswith(f"/{name}") for file in files) else [f"{page.name}: {name}"]
    assert not missing


def test_links_in_the_docs_are_valid() -> None:
    broken = []
    for page in (ROOT / "README.md", *DOCS.glob("**/*.md")):
        for target in _find_link_targets(page.read_text()):
            if not target.startswith(("http://", "https://", "#", "mailto:")):
                path = page.parent / target.partition("#")[0]
                broken += [] if path.exists() else [f"{page.name}: {target}"]
    assert not broken


def test_anchors_in_the_docs_are_valid() -> None:
    broken = []
    for page in (ROOT / "README.md", *DOCS.glob("**/*.md")):
        for target in _find_link_targets(page.read_text()):
            name, _, anchor = target.partition("#")
            if anchor and not name.startswith("http"):
                headings = re.findall(r"(?m)^#+ (.*)$", (page.parent / name if name else page).read_text())
                slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
                broken += [] if anchor in slugs else [f"{page.name}: {target}"]
    assert not broken


def _find_link_targets(text: str) -> list[str]:
    return [part.partition(")")[0].split(" ")[0] for part in text.split("](")[1:]]
