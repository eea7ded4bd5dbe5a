"""Compile the few lines of C where there is a compiler; without one everything works, a little slower."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = Path("src/sanderling/pages")
SOURCE, LIBRARY = PAGES / "textmarks.c", PAGES / "_textmarks.so"


class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the library beside its source; a wheel that holds one is for this kind of machine alone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files are gathered."""
        if self.target_name != "wheel" or not compiled(Path(self.root)):
            return
        build_data["artifacts"].append(str(LIBRARY))
        if version != "editable":
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def compiled(root: Path) -> bool:
    """Compile; say whether the library is there."""
    compiler = shutil.which(os.environ.get("CC") or "cc")
    (root / LIBRARY).unlink(missing_ok=True)
    if compiler is None:
        return False
    made = (root / LIBRARY).with_suffix(".new")
    command = [compiler, "-O3", "-shared", "-fPIC", "-o", str(made), str(root / SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{SOURCE} was not compiled: {done.stderr.strip()[-400:]}", file=sys.stderr)
        return False
    made.replace(root / LIBRARY)  # in one step: somebody may be using the old one
    return True
