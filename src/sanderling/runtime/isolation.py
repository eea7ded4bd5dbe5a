"""Start Python child processes that never import from the working directory.

`python -m` puts it first on `sys.path`: a downloaded `attr.py` would be executed. `-P` and `PYTHONSAFEPATH` disable
that.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SAFE_PATH = "PYTHONSAFEPATH"


def build_python_command(*arguments: str) -> list[str]:
    """Return the command line of an isolated Python process."""
    return [sys.executable, "-P", *arguments]


def build_safe_environment() -> dict[str, str]:
    """Return an environment that also isolates grandchild processes."""
    return {**os.environ, SAFE_PATH: "1"}


@contextmanager
def enforce_safe_path() -> Iterator[None]:
    """Isolate processes started by a library (`multiprocessing`) within the block."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before
