"""Command lines and environments for Python child processes that never import from the working directory.

`python -m` and `python -c` put the working directory first on `sys.path`. A file named like a library there (`attr.py`
in a downloaded folder) would then be executed by every child process. `-P` and `PYTHONSAFEPATH` switch that off; a
`PYTHONPATH` that the user set is still honored.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SAFE_PATH = "PYTHONSAFEPATH"


def build_python_command(*arguments: str) -> list[str]:
    """Return the command line of a Python child process that does not import from the working directory."""
    return [sys.executable, "-P", *arguments]


def build_safe_environment() -> dict[str, str]:
    """Return our environment for a child process whose own Python children must not import from there either."""
    return {**os.environ, SAFE_PATH: "1"}


@contextmanager
def enforce_safe_path() -> Iterator[None]:
    """Isolate child processes whose command line a library writes (`multiprocessing`); restores the environment."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before
