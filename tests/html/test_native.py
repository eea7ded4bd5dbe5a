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

from sanderling.content import soft_404
from sanderling.fingerprint import assets, minhash, scripts, structure
from sanderling.html import links
from sanderling.html import native as native_module
from sanderling.html.native import LIBRARY_PATH, NATIVE, SOURCE_DIR, load_library
from sanderling.html.scanned_page import ScannedElement
from sanderling.urls import normalize


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
    monkeypatch.setattr(native_module, "SOURCE_DIR", sources)
    assert load_library(library) is None


def test_library_is_compiled_if_there_is_a_compiler() -> None:
    assert LIBRARY_PATH.exists() or shutil.which("cc") is None
    assert (NATIVE is not None) is LIBRARY_PATH.exists()


def test_hash_equals_that_of_the_package_at_every_length(native: CDLL) -> None:
    native.sanderling_xxh3.restype, native.sanderling_xxh3.argtypes = c_uint64, (c_char_p, c_size_t)
    data = Random(3).randbytes(5000)
    lengths = [*range(260), 261, 1023, 1024, 1025, 1087, 1088, 1089, 2048, 2049, 4999]
    assert [native.sanderling_xxh3(data, n) for n in lengths] == [xxh3_64_intdigest(data[:n]) for n in lengths]


# Tables and limits in C name the Python object that they repeat.

CONSTANT = re.compile(r"#define \w+ (\d+) +/\* (\w+)\.([A-Z_]+) \*/")
PYTHON_MODULES = {
    "links": links, "minhash": minhash, "normalize": normalize, "scripts": scripts, "soft_404": soft_404,
}  # fmt: skip


def read_c(name: str) -> str:
    return (SOURCE_DIR / name).read_text()


def read_c_table(file: str, name: str) -> list[str]:
    """Return the strings of a table."""
    table = read_c(file).partition(f"{name}[] = {{")[2].partition("};")[0]
    return re.findall(r'"([^"]*)"', table)


def test_limits_equal_those_in_python() -> None:
    found = [match for file in SOURCE_DIR.glob("*.[ch]") for match in CONSTANT.findall(file.read_text())]
    assert {f"{module}.{name}": int(value) for value, module, name in found} == {
        f"{module}.{name}": getattr(PYTHON_MODULES[module], name) for _, module, name in found
    }
    assert len(found) >= 7


def test_tables_of_scripts_and_images_equal_those_in_python() -> None:
    assert tuple(read_c_table("script_code.c", "data_script_types")) == scripts.DATA_SCRIPT_TYPES
    names = re.findall(r"\(\?:([a-z|]+)\)", assets.IMAGE_ID_PARAMETER.pattern)[0].split("|")
    assert sorted(read_c_table("attribute_values.c", "image_parameters")) == sorted(f"{name}=" for name in names)


def test_block_tags_equal_those_of_the_structure_fingerprint() -> None:
    kinds = dict(re.findall(r"X\((\w+), ([\w |]+)\)", read_c("tags.h").partition("#define TAGS(X)")[2]))
    assert {tag for tag, kind in kinds.items() if "BLOCK" in kind.split(" | ")} == set(structure.BLOCK_TAGS)


def test_attributes_are_in_the_order_of_a_scanned_element() -> None:
    text = read_c("tags.h").partition("#define ATTRIBUTES(X)")[2].partition("#define")[0]
    metadata = re.findall(r"X\((\w+),", text)[: len(ScannedElement._fields) - 3]
    assert tuple(metadata) == ScannedElement._fields[3:]


def test_character_references_equal_those_of_the_standard() -> None:
    source = read_c("character_references.c")
    latin = "".join(re.findall(r'"([^"]*)"', source.partition("LATIN[] =")[2].partition(";")[0])).split()
    named = {name: int(code) for name, code in re.findall(r'\{"(\w+)", (\d+)\}', source)}
    named |= {name: 160 + number for number, name in enumerate(latin)}
    assert {name: chr(code) for name, code in named.items()} == {name: html5[f"{name};"] for name in named}
    assert len(named) > 250
