"""The lines of C, compiled for these tests with every warning an error."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from sanderling.pages.native import SOURCES, Native, checksum, load

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


def compiled(folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library into a folder; where there is no compiler the test is skipped."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: apt-get install gcc")
    library = folder / "made.so"
    sources = map(str, SOURCES.glob("*.c"))
    made_of = f"-DMADE_OF={checksum(SOURCES)}u"
    subprocess.run([compiler, *STRICT, *flags, made_of, "-shared", "-fPIC", "-o", str(library), *sources], check=True)
    return library


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    made = load(compiled(tmp_path_factory.mktemp("native"), ["-O2"]))
    assert made is not None
    return made
