"""The index kept beside a crawl, in a process of its own."""

import time
from pathlib import Path

import pytest
from tests.support.site import Site, tree

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.search.background_indexer import start_indexer_process
from sanderling.search.indexer import open_indexer


def where(process: int) -> str:
    """What a process waits for, as the kernel calls it."""
    return Path(f"/proc/{process}/wchan").read_text()


def is_asleep(process: int) -> bool:
    """Does it wait for anything at all?"""
    return "\nState:\tS" in Path(f"/proc/{process}/status").read_text()


def test_who_waits_for_another_keeper_ends_when_told(tmp_path: Path) -> None:
    with Site(tree(3)) as site:
        crawl(tmp_path, CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1),
        ))  # fmt: skip
    keeper = open_indexer(tmp_path)
    waiting = start_indexer_process(tmp_path)
    try:
        assert waiting.pid is not None
        deadline = time.monotonic() + 300
        while "sigtimedwait" not in where(waiting.pid):
            if where(waiting.pid) == "0" and is_asleep(waiting.pid):
                pytest.skip("this kernel does not say what a process waits for")
            assert time.monotonic() < deadline, where(waiting.pid)
            time.sleep(0.05)
        waiting.terminate()
        keeper.close()  # now it could follow for ever
        waiting.join(300)
        assert waiting.exitcode == 0
    finally:
        waiting.kill()
