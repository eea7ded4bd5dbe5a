"""Command lines and environments for Python child processes that never import from the working directory.

`python -m` and `python -c` put the working directory first on `sys.path`, so a file named like a library (`attr.py` in
a downloaded folder) would be executed by every child process. `-P` and `PYTHONSAFEPATH` disable that; a `PYTHONPATH` of
the user still works.
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
    """Return an environment that also protects Python processes started by the child."""
    return {**os.environ, SAFE_PATH: "1"}


@contextmanager
def enforce_safe_path() -> Iterator[None]:
    """Isolate child processes started by a library (`multiprocessing`). Restores the environment afterwards."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before
