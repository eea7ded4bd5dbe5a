"""Tests of loading the C library."""

import re
import shutil
from ctypes import CDLL, c_char_p, c_size_t, c_uint64
from html.entities import html5
from pathlib import Path
from random import Random

import pytest
from tests.support.native_library import compiled
from xxhash import xxh3_64_intdigest

from sanderling.html import native as native_module
from sanderling.html.native import LIBRARY_PATH, NATIVE, SOURCE_DIR, load_library
from sanderling.html.native_tables import BLOCK_TAGS, OTHER_TAGS, TAG_KINDS, render_header


def test_missing_or_damaged_library_is_not_loaded(tmp_path: Path) -> None:
    assert load_library(tmp_path / "missing.so") is None
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(b"\x7fELF")
    assert load_library(damaged) is None


def test_library_of_other_sources_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    library = compiled(tmp_path, ["-O1"])
    assert load_library(library) is not None
    sources = tmp_path / "c"
    shutil.copytree(SOURCE_DIR, sources)
    (sources / "tags.h").write_bytes(b"")
    monkeypatch.setattr(native_module, "SOURCE_DIR", sources)
    assert load_library(library) is None
    assert "run `make setup`" in caplog.text


def test_library_is_compiled_if_there_is_a_compiler() -> None:
    assert LIBRARY_PATH.exists() or shutil.which("cc") is None
    assert (NATIVE is not None) is LIBRARY_PATH.exists()


def test_hash_equals_that_of_the_package_at_every_length(native: CDLL) -> None:
    native.sanderling_xxh3.restype, native.sanderling_xxh3.argtypes = c_uint64, (c_char_p, c_size_t)
    data = Random(3).randbytes(5000)
    lengths = [*range(260), 261, 1023, 1024, 1025, 1087, 1088, 1089, 2048, 2049, 4999]
    assert [native.sanderling_xxh3(data, n) for n in lengths] == [xxh3_64_intdigest(data[:n]) for n in lengths]


def test_generated_header_has_the_kinds_of_all_tags() -> None:
    kinds = dict(re.findall(r"X\((\w+), ([\w |]+)\)", render_header()))
    assert {tag for tag, kind in kinds.items() if "BLOCK" in kind.split(" | ")} == set(BLOCK_TAGS)
    assert {*kinds} == {*OTHER_TAGS, *(tag for tags in TAG_KINDS.values() for tag in tags)}


def test_build_of_other_lists_makes_the_library_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = compiled(tmp_path, ["-O1"])
    other = tmp_path / "native_tables.py"
    other.write_bytes(native_module.TABLES_PATH.read_bytes().replace(b"MAX_ANCHOR = 200", b"MAX_ANCHOR = 201"))
    monkeypatch.setattr(native_module, "TABLES_PATH", other)
    assert load_library(library) is None


def test_character_references_are_those_of_the_standard() -> None:
    rows = re.findall(r'\{"(\w+)", (\d+), ([01])\}', render_header())
    assert {name: chr(int(code)) for name, code, _ in rows} == {name: html5[f"{name};"] for name, _, _ in rows}
    assert {name for name, _, is_legacy in rows if is_legacy == "1"} == {name for name in html5 if name[-1] != ";"}
