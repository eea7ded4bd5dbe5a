"""The C library, compiled for tests with every warning as an error."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from ctypes import CDLL
from pathlib import Path
from textwrap import dedent

import pytest

from sanderling.html.native import SOURCE_DIR, compute_checksum, load_library
from sanderling.html.native_tables import render_header

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


def compiled(folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library into a folder; skip the test without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler found: apt-get install gcc")
    library = folder / "made.so"
    sources = map(str, SOURCE_DIR.glob("*.c"))
    made_of = f"-DSOURCE_CHECKSUM={compute_checksum(SOURCE_DIR)}u"
    (folder / "tables.h").write_text(render_header())
    options = [*STRICT, *flags, made_of, f"-I{folder}", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([compiler, *options, *sources], check=True)
    return library


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> CDLL:
    library = load_library(compiled(tmp_path_factory.mktemp("native"), ["-O2"]))
    assert library is not None
    return library


SANITIZER_FLAGS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
PREAMBLE = """
import sys
from pathlib import Path
from random import Random
from sanderling.html.native import load_library
from tests.support.tag_soup import soup
BITS = ["<", ">", "&", '"', "=", "\\xe9", "", "<a href="]
native, dice = load_library(Path(sys.argv[1])), Random(7)
"""


@pytest.fixture
def guarded(tmp_path: Path) -> Callable[[str], None]:
    """Return a function that runs a script with `native` compiled with AddressSanitizer."""
    found = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    libasan = found.stdout.strip()
    if not Path(libasan).is_absolute():
        pytest.skip("no AddressSanitizer found for the C compiler")
    env = {
        "LD_PRELOAD": libasan,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONPATH": ":".join(sys.path),
        "PYTHONMALLOC": "malloc",
    }
    library = compiled(tmp_path, SANITIZER_FLAGS)

    def run_script(script: str) -> None:
        command = [sys.executable, "-c", PREAMBLE + dedent(script), str(library)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]

    return run_script
