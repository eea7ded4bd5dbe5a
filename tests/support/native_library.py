"""The lines of C, compiled for these tests with every warning an error."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from sanderling.html.native import SOURCE_DIR, NativeLibrary, compute_checksum, load_library

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


def compiled(folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library into a folder; where there is no compiler the test is skipped."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: apt-get install gcc")
    library = folder / "made.so"
    sources = map(str, SOURCE_DIR.glob("*.c"))
    made_of = f"-DSOURCE_CHECKSUM={compute_checksum(SOURCE_DIR)}u"
    subprocess.run([compiler, *STRICT, *flags, made_of, "-shared", "-fPIC", "-o", str(library), *sources], check=True)
    return library


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> NativeLibrary:
    made = load_library(compiled(tmp_path_factory.mktemp("native"), ["-O2"]))
    assert made is not None
    return made


GUARD = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
BEFORE = """
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
    """Run a script with the library, `native`, guarded against reading and writing beyond its room."""
    found = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    guard = found.stdout.strip()
    if not Path(guard).is_absolute():
        pytest.skip("there is no address sanitizer beside the C compiler")
    env = {
        "LD_PRELOAD": guard,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONPATH": ":".join(sys.path),
        "PYTHONMALLOC": "malloc",
    }
    library = compiled(tmp_path, GUARD)

    def go(script: str) -> None:
        command = [sys.executable, "-c", BEFORE + dedent(script), str(library)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]

    return go
