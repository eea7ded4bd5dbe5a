"""A shard set on two real PostgreSQL servers is read as a whole."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.support.many_sites import ManySites
from tests.support.site import free_port

from sanderling.api.searching.collection_search import search_collection
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.sharding.shard_supervisor import open_supervisor
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages
from sanderling.storage.reports import load_totals

pytestmark = pytest.mark.slow


@contextmanager
def run_postgres() -> Iterator[str]:
    """Start a server with `postgres_fdw` on loopback, as another user if root runs the tests."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder, port = Path(tempfile.mkdtemp(prefix="pg")), free_port()

    def run(name: str, *arguments: str) -> None:
        command = [*prefix, name, "-D", str(folder), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    try:
        if prefix:
            shutil.chown(folder, "postgres")
        run("initdb", "-A", "trust", "-U", "crawler")
        run("pg_ctl", "-w", "-o", f"-p {port} -h 127.0.0.1 -k '' -c fsync=off", "-l", str(folder / "log"), "start")
        yield f"postgresql://crawler@127.0.0.1:{port}/postgres"
        run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def servers() -> Iterator[list[str]]:
    pytest.importorskip("psycopg")
    if shutil.which("initdb") is None or not list(
        Path("/usr").glob("share/postgresql/*/extension/postgres_fdw.control")
    ):
        pytest.skip("PostgreSQL with postgres_fdw is not installed")
    with ExitStack() as stack:
        yield [stack.enter_context(run_postgres()) for _ in range(2)]


def test_set_on_two_servers_is_read_as_a_whole(tmp_path: Path, servers: list[str]) -> None:
    with ManySites(6, 4) as web:
        request = CrawlRequest(
            (web.get_root(0) + "/p0",),
            scope=ScopeSettings(scope="any", sitemaps=False),
            politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1, shards=3, store=" ".join(servers)),
        )
        assert open_supervisor(tmp_path, request, print).run().pages == 24
        for _ in range(2):  # the second time, the tables are imported already
            with open_collection_read_only(tmp_path) as collection:
                assert {page.url for page in load_pages(collection.db)} == web.urls
                assert load_totals(collection.db).pages == 24
        assert {hit.url for hit in search_collection(tmp_path, "text", limit=24).hits} == web.urls
