"""Compile the optional C library where there is a compiler."""

import os
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_platform
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = Path("src/sanderling/html")
SOURCES, TABLES, LIBRARY = PAGES / "_native", PAGES / "native_tables.py", PAGES / "_native.so"


class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the library next to its source; a wheel with it is for this platform only."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files are gathered."""
        if self.target_name != "wheel" or not compiled(Path(self.root)):
            return
        build_data["artifacts"].append(str(LIBRARY))
        if version != "editable":
            build_data["pure_python"] = False
            platform = get_platform().replace("-", "_").replace(".", "_")  # linux_x86_64, macosx_11_0_arm64
            build_data["tag"] = f"py3-none-{platform}"


def compiled(root: Path) -> bool:
    """Compile; say whether the library is there."""
    compiler, *flags = shlex.split(os.environ.get("CC") or "cc")
    (root / LIBRARY).unlink(missing_ok=True)
    if shutil.which(compiler) is None:
        return False
    made = (root / LIBRARY).with_suffix(".new")
    files = [*sorted((root / SOURCES).glob("*.[ch]")), root / TABLES]
    made_of = crc32(b"".join(file.read_bytes() for file in files))  # html/native.py compares it
    options = [
        "-O3",
        "-std=c99",
        "-fvisibility=hidden",
        f"-DSOURCE_CHECKSUM={made_of}u",
        "-shared",
        "-fPIC",
        "-o",
        str(made),
    ]
    command = [compiler, *flags, *options, *(str(file) for file in files if file.suffix == ".c")]
    with TemporaryDirectory() as include_dir:
        header = runpy.run_path(str(root / TABLES))["render_header"]()
        (Path(include_dir) / "tables.h").write_text(header)
        done = subprocess.run([*command, "-I", include_dir], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{SOURCES} was not compiled: {done.stderr.strip()[-400:]}", file=sys.stderr)
        return False
    made.replace(root / LIBRARY)  # atomically: the old library may be in use
    return True
