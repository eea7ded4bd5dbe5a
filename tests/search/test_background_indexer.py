"""The background indexer process."""

import time
from pathlib import Path

import pytest
from tests.support.site import Site, tree

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.search.background_indexer import start_indexer_process
from sanderling.search.indexer import open_indexer


def read_wait_channel(process: int) -> str:
    """Return the kernel function a process waits in."""
    return Path(f"/proc/{process}/wchan").read_text()


def is_asleep(process: int) -> bool:
    return "\nState:\tS" in Path(f"/proc/{process}/status").read_text()


def test_indexer_waiting_for_the_lock_ends_on_sigterm(tmp_path: Path) -> None:
    with Site(tree(3)) as site:
        crawl(tmp_path, CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1),
        ))  # fmt: skip
    holder = open_indexer(tmp_path)
    waiting = start_indexer_process(tmp_path)
    try:
        assert waiting.pid is not None
        deadline = time.monotonic() + 300
        while "sigtimedwait" not in read_wait_channel(waiting.pid):
            if read_wait_channel(waiting.pid) == "0" and is_asleep(waiting.pid):
                pytest.skip("this kernel does not expose wait channels")
            assert time.monotonic() < deadline, read_wait_channel(waiting.pid)
            time.sleep(0.05)
        waiting.terminate()
        holder.close()  # the waiting process could now index forever
        waiting.join(300)
        assert waiting.exitcode == 0
    finally:
        waiting.kill()
