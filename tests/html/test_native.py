"""Tests of loading the C library."""

import shutil
from pathlib import Path

import pytest
from tests.support.native_library import compiled

from sanderling.html import native
from sanderling.html.native import LIBRARY_PATH, NATIVE, SOURCE_DIR, load_library


def test_missing_or_damaged_library_is_not_loaded(tmp_path: Path) -> None:
    assert load_library(tmp_path / "missing.so") is None
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(b"\x7fELF")
    assert load_library(damaged) is None


def test_library_of_other_sources_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = compiled(tmp_path, ["-O1"])
    assert load_library(library) is not None
    sources = tmp_path / "c"
    shutil.copytree(SOURCE_DIR, sources)
    (sources / "tags.h").write_bytes(b"")
    monkeypatch.setattr(native, "SOURCE_DIR", sources)
    assert load_library(library) is None


def test_library_is_compiled_if_there_is_a_compiler() -> None:
    assert LIBRARY_PATH.exists() or shutil.which("cc") is None
    assert (NATIVE is not None) is LIBRARY_PATH.exists()
