"""The whole crawler with its migrants on a real Ray cluster of three nodes; a node is killed on the way."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web import Site, tree

from sanderling.engines.cluster import Cluster
from sanderling.migrants.settings import FetchSettings
from sanderling.session import Request, crawl
from sanderling.settings import Fetching, Politeness, Scope, Workers
from sanderling.store.catalogue import pages
from sanderling.store.collection import read_collection
from sanderling.store.read import StoredRecord, walk

PAGES = 1200


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A head and two more nodes on this machine, each with a label of its own."""
    ray = pytest.importorskip("ray")
    utils = pytest.importorskip("ray.cluster_utils")
    cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    near = [cluster.add_node(num_cpus=1, resources={f"near{n}": 1}) for n in range(2)]
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    yield cluster, near
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own threads and sockets
def test_a_node_that_dies_loses_nothing(tmp_path: Path, nodes: Any) -> None:
    cluster, near = nodes
    removed = threading.Event()

    class Patient(Site):
        """Answers the second half only when the node is gone, so that it dies in the middle of the crawl."""

        def answer(self, handler: Any) -> None:
            if sum(self.hits.values()) > PAGES // 2:
                removed.wait(60)
            super().answer(handler)

    with Patient(tree(PAGES)) as site:
        killed = threading.Event()

        def kill() -> None:
            while sum(site.hits.values()) < PAGES // 2 and not killed.wait(0.01):
                pass
            cluster.remove_node(near[1], allow_graceful=False)
            removed.set()

        thread = threading.Thread(target=kill)
        thread.start()
        request = Request(
            (site.root + "/",),
            scope=Scope(sitemaps=False),
            politeness=Politeness(delay=0),
            fetching=Fetching(allow_private=True),
            workers=Workers(migrants=3),
        )
        engine = Cluster(FetchSettings(allow_private=True), cluster.address, ("near0", "near1"))
        try:
            summary = crawl(tmp_path, request, engine=engine)
        finally:
            killed.set()
            thread.join()
        assert (summary.finish_reason, summary.pages) == ("done", PAGES)
        assert "was lost" in (tmp_path / "logs" / "crawl.log").read_text()
        with read_collection(tmp_path) as collection:
            assert {row.url for row in pages(collection.db)} == {site.root + path for path in site.pages}
        records = [record for path in (tmp_path / "archive").glob("*.gz") for record in walk(path)]
        archived = [r.url for r in records if isinstance(r, StoredRecord) and (r.kind, r.status) == ("response", 200)]
        assert len(archived) == len(set(archived)) == PAGES
        assert sum(site.hits.values()) - PAGES <= 3 * 160 + 3
