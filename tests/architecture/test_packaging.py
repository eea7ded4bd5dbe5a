"""Test the wheel: build it, install it into a fresh environment, and run the program from there."""

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from sanderling.html.native import NATIVE

ROOT = Path(__file__).parents[2]
BUILD_FILES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE")


def run(*command: str | Path) -> str:
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.slow
def test_wheel_is_built_and_installed(tmp_path: Path) -> None:
    source, wheels, environment = tmp_path / "source", tmp_path / "wheels", tmp_path / "venv"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name in BUILD_FILES:
        shutil.copy(ROOT / name, source)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", wheels, source)
    (wheel,) = wheels.iterdir()
    assert ("none-any" in wheel.name) == (shutil.which("cc") is None)
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    (packages,) = environment.glob("lib/*/site-packages")
    run(*pip, "--python", python, "install", "--no-deps", wheel)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))  # those of this environment
    assert run(environment / "bin" / "sanderling", "--version").startswith("sanderling ")
    script = "import sanderling, json; from sanderling.html.native import NATIVE; "
    script += "print(json.dumps([sanderling.__file__, NATIVE is not None]))"
    file, is_compiled = json.loads(run(python, "-P", "-c", script))
    assert Path(file).is_relative_to(environment)
    assert is_compiled == (NATIVE is not None)
    installed = {
        path.relative_to(packages) for path in packages.rglob("*") if path.suffix in (".html", ".css", ".toml")
    }
    sources = {path.relative_to(source / "src") for path in (source / "src").rglob("*")}
    assert {path for path in sources if path.suffix in (".html", ".css", ".toml")} <= installed
