"""Kill browsers during a crawl, and measure the memory of their tabs.

Every page must be stored exactly once, rendered, and requested at most as often as it was attempted.

python -m benchmarks.rendering.browser_kills [--pages 120] [--kills 50]
"""

import argparse
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

from tests.support.script_site import build_render_request, build_shop
from tests.support.site import Site

from sanderling.crawl.session import crawl
from sanderling.crawl.stop import CrawlProgress
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages
from sanderling.workers.browser.process_memory import TAB_PROCESS, find_descendants, get_resident_bytes

BROWSER_MODULE = b"sanderling.workers.browser.chromium"
PAGES_PER_KILL = 2  # rendered since the last kill; a browser that starts under load takes seconds


class BrowserKiller:
    """Kills a browser process now and then, and samples the memory of tabs."""

    def __init__(self, kills: int) -> None:
        self.remaining, self.done = kills, Counter[str]()
        self.tab_bytes: list[int] = []
        self._rendered = 0

    def look(self, progress: CrawlProgress) -> None:
        if progress.rendered < self._rendered + PAGES_PER_KILL:
            return
        commands = {process: read_command(process) for process in find_descendants(os.getpid())}
        tabs = [process for process, command in commands.items() if TAB_PROCESS in command]
        self.tab_bytes += [size for size in map(get_resident_bytes, tabs) if size]
        victims = [process for process, command in commands.items() if BROWSER_MODULE in command]
        chromium = [process for process, command in commands.items() if is_browser(command)]
        # In turn: the browser process, Chromium below it, and the process of a page.
        kind = ("process", "chromium", "tab")[self.done.total() % 3]
        target = {"process": victims, "chromium": chromium, "tab": tabs}[kind]
        if self.remaining and target:
            os.kill(target[-1], signal.SIGKILL)
            self.done[kind] += 1
            self.remaining, self._rendered = self.remaining - 1, progress.rendered


def is_browser(command: bytes) -> bool:
    return b"--headless" in command and b"--type" not in command


def read_command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def main() -> None:
    """Crawl a shop while its browsers are killed, and print what is stored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--kills", type=int, default=50)
    args = parser.parse_args()
    texts = {str(number): f"text of item {number}" for number in range(args.pages)}
    killer = BrowserKiller(args.kills)
    with tempfile.TemporaryDirectory() as folder, Site(build_shop(texts)) as site:
        started = time.monotonic()
        summary = crawl(Path(folder), build_render_request(site.root + "/"), on_tick=killer.look)
        with open_collection_read_only(Path(folder)) as collection:
            titles = Counter(row.title for row in load_pages(collection.db))
        most = max(count for path, count in site.hits.items() if path.startswith("/") and "api" not in path)
    lost = [number for number in texts if titles[f"Item {number}"] != 1]
    print(f"{killer.done.total()} kills {dict(killer.done)} in {time.monotonic() - started:.0f} s")
    print(f"{summary.pages} pages stored, {len(lost)} lost or not rendered {lost[:9]}, {summary.failed} failed")
    print(f"a document was requested at most {most} times")
    sizes = [size / 1e6 for size in killer.tab_bytes]
    print(f"memory of a page's process: median {median(sizes):.0f} MB, most {max(sizes):.0f} MB, {len(sizes)} samples")


if __name__ == "__main__":
    main()
