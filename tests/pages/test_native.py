"""The compiled lines: loaded where they are whole and ours, done without elsewhere."""

import os
import shutil
from pathlib import Path

from tests.pages.conftest import compiled

from sanderling.pages.native import LIBRARY, NATIVE, load


def test_what_is_no_library_of_ours_is_not_loaded(tmp_path: Path) -> None:
    assert load(tmp_path / "none.so") is None
    torn = tmp_path / "torn.so"
    torn.write_bytes(b"\x7fELF")
    assert load(torn) is None


def test_a_library_older_than_its_sources_is_not_loaded(tmp_path: Path) -> None:
    library = compiled(tmp_path, ["-O1"])
    assert load(library) is not None
    os.utime(library, (1.0, 1.0))
    assert load(library) is None


def test_installing_compiled_the_library_where_there_is_a_compiler() -> None:
    assert LIBRARY.exists() or shutil.which("cc") is None
    assert (NATIVE is not None) is LIBRARY.exists()
