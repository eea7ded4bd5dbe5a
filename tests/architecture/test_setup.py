"""Test setup without root on a machine that has only Python: scripts/venv.sh and scripts/pip.py."""

import hashlib
import io
import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.site import Page, Site

SCRIPTS = Path(__file__).parents[2] / "scripts"
PIP = runpy.run_path(str(SCRIPTS / "pip.py"))
INSTALL_SCRIPT = """
import shutil, sys, sysconfig, zipfile
zipfile.ZipFile(sys.argv[-1]).extractall(sysconfig.get_path("purelib"))
"""


def build_wheel() -> bytes:
    """Return a wheel that installs itself when run, like pip's."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as wheel:
        wheel.writestr("pip/__init__.py", "")
        wheel.writestr("pip/__main__.py", f"import sys\nif 'install' in sys.argv:\n    exec({INSTALL_SCRIPT!r})\n")
    return out.getvalue()


def build_index(body: bytes, digest: str = "") -> dict[str, Page]:
    """Return the pages of a package index: an older, a yanked, and an incompatible release."""
    digest = digest or hashlib.sha256(body).hexdigest()
    links = "".join(
        f'<a href="../../files/pip-{version}-py3-none-any.whl#sha256={digest}" {attributes}>pip</a>'
        for version, attributes in (
            ("9.1", ""), ("26.0", ""), ("26.1rc1", ""),
            ("27.0", "data-yanked"), ("28.0", 'data-requires-python="&gt;=9"'),
        )
    )  # fmt: skip
    return {
        "/simple/pip/": Page(links.encode()),
        "/files/pip-26.0-py3-none-any.whl": Page(body),
    }


def test_newest_wheel_of_the_index_is_downloaded(tmp_path: Path) -> None:
    with Site(build_index(body := build_wheel())) as site:
        wheel = PIP["download_wheel"](f"{site.root}/simple", tmp_path)
    assert (wheel.name, wheel.read_bytes()) == ("pip-26.0-py3-none-any.whl", body)


def test_wheel_with_another_hash_is_rejected(tmp_path: Path) -> None:
    with Site(build_index(build_wheel(), digest="0" * 64)) as site, pytest.raises(ValueError, match="another SHA-256"):
        PIP["download_wheel"](f"{site.root}/simple", tmp_path)
    assert not list(tmp_path.iterdir())


def run_venv(folder: Path, index: str) -> subprocess.CompletedProcess[str]:
    """Run venv.sh with a Python without ensurepip, like Debian's without python3-venv."""
    (folder / "ensurepip.py").write_text("raise ImportError('as Debian has it')")
    env = {**os.environ, "PYTHONPATH": str(folder), "PIP_INDEX_URL": index, "PIP_WHEELS": str(folder)}
    command = ["bash", str(SCRIPTS / "venv.sh"), sys.executable, str(folder / "venv")]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_environment_is_created_without_ensurepip(tmp_path: Path) -> None:
    with Site(build_index(build_wheel())) as site:
        made = run_venv(tmp_path, f"{site.root}/simple")
    assert made.returncode == 0, made.stderr
    assert subprocess.run([tmp_path / "venv/bin/python", "-m", "pip", "--version"], check=False).returncode == 0


def test_missing_pip_prints_the_install_command(tmp_path: Path) -> None:
    failed = run_venv(tmp_path, "http://127.0.0.1:9/simple")
    assert failed.returncode == 1
    assert f"as root: apt-get install python3.{sys.version_info[1]}-venv" in failed.stderr
    assert not (tmp_path / "venv").exists()


def test_wheel_is_taken_from_the_debian_package_without_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "packed"
    (packed / "DEBIAN").mkdir(parents=True)
    (packed / "DEBIAN/control").write_text(
        "Package: python3-pip-whl\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: pip\n"
    )
    (packed / "usr/share/python-wheels").mkdir(parents=True)
    (packed / "usr/share/python-wheels/pip-23.0-py3-none-any.whl").write_bytes(body := build_wheel())
    subprocess.run(["dpkg-deb", "--build", str(packed), str(tmp_path / "pip.deb")], check=True, capture_output=True)
    (tmp_path / "apt-get").write_text(f"#!/bin/sh\ncp {tmp_path}/pip.deb .\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    (folder := tmp_path / "download").mkdir()
    wheel = PIP["download"](folder)
    assert (wheel.name, wheel.read_bytes()) == ("pip-23.0-py3-none-any.whl", body)


def test_missing_debian_package_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LookupError, match="apt-get could not download python3-pip-whl"):
        PIP["download_debian"](tmp_path)
