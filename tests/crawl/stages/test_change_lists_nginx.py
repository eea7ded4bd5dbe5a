"""Change lists with nginx: it serves files next to the stand-alone publisher."""

import http.client
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.crawl.stages.test_change_lists import NAMES, NEW, OLD, SCENARIOS
from tests.publisher.conftest import BROWSER, parse_listing
from tests.support.site import free_port

from sanderling.config.settings import HttpSettings, PolitenessSettings, RevisitSettings, WorkerSettings
from sanderling.crawl.refresh import refresh
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import crawl

CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log {folder}/access.log combined;
  client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
  uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
  types {{ text/html html; }} default_type text/html; keepalive_requests 10000;
  server {{
    listen 127.0.0.1:{port}; root {folder}/www;
    location ~ ^/(sitemap\\.xml|changes\\.xml|\\.well-known/resourcesync) {{ proxy_pass http://127.0.0.1:{behind}; }}
  }}
}}
"""
MAX_POLLS = 600  # at intervals of 0.05 s


class NginxSite:
    """Fifteen files served by nginx, with the publisher next to it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.root = f"http://127.0.0.1:{port}"

    def write(self, path: str, words: str) -> None:
        links = "".join(f'<a href="{name}">{name}</a> ' for name in map(address, NAMES))
        self.file(path).write_text(f"<title>{path}</title><p>{words} This is {path}.<p>{links}")

    def file(self, path: str) -> Path:
        return self.folder / "www" / (f"{path[1:]}.html" if path != "/" else "index.html")

    def view(self, views: dict[str, int]) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        for path, count in views.items():
            for _ in range(count):
                line.request("GET", address(path), headers={"User-Agent": BROWSER})
                line.getresponse().read()
        line.close()

    def changes(self, since: float) -> dict[str, tuple[float, str]]:
        """Request the current list: `{path: (priority, change)}`."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        line.request("GET", f"/changes.xml?LAST_VISIT={since:.3f}")
        rows = parse_listing(line.getresponse().read())
        line.close()
        return {url.removeprefix(self.root): (priority, change) for url, priority, change in rows}

    def until(self, expected: dict[str, float], since: float) -> None:
        for _ in range(MAX_POLLS):
            now = self.changes(since)
            if all(now.get(address(path)) == (priority, "updated") for path, priority in expected.items()):
                return
            threading.Event().wait(0.05)
        pytest.fail(f"the list never contained {expected}, but {now}")

    def sent(self) -> Counter[str]:
        """Count bodies sent to the crawler, by the access log."""
        found: Counter[str] = Counter()
        for line in (self.folder / "access.log").read_text().splitlines():
            if "sanderling" in line and '" 200 ' in line:
                found[line.split('"')[1].split()[1]] += 1
        return found


def address(path: str) -> str:
    return "/" if path == "/" else f"{path}.html"


@contextmanager
def running(command: list[str], ready_line: str = "") -> Iterator[None]:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr
    try:
        while ready_line and ready_line not in process.stderr.readline():
            assert process.poll() is None
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def web(tmp_path: Path) -> Iterator[NginxSite]:
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("nginx is not installed")
    port, behind = free_port(), free_port()
    site = NginxSite(tmp_path, port)
    (tmp_path / "www").mkdir()
    for path in NAMES:
        site.write(path, OLD)
    (tmp_path / "www/robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {site.root}/sitemap.xml\n")
    (tmp_path / "nginx.conf").write_text(CONFIG.format(folder=tmp_path, port=port, behind=behind))
    words = [str(tmp_path / "www"), "--base", site.root, "--state", str(tmp_path / "s.db"), "--scan-every", "1"]
    words += ["--listen", f"127.0.0.1:{behind}", "--access-log", str(tmp_path / "access.log")]
    with running([program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]):
        for _ in range(MAX_POLLS):
            if listening(port):
                break
            threading.Event().wait(0.05)
        with running([sys.executable, "-m", "sanderling.publisher", *words], "publishing on"):
            yield site


def request(web: NginxSite, threshold: float = 0.0) -> CrawlRequest:
    return CrawlRequest(
        (web.root + "/",),
        politeness=PolitenessSettings(delay=0, backoff=0.2, concurrency=1),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
        revisit=RevisitSettings(threshold=threshold),
    )


@pytest.mark.parametrize(("priorities", "threshold", "downloads"), SCENARIOS)
def test_paper_scenarios_with_nginx_give_two_four_and_three_downloads(
    web: NginxSite, tmp_path: Path, priorities: dict[str, float], threshold: float, downloads: int
) -> None:
    crawl(tmp_path / "c", request(web))
    refresh(tmp_path / "c", request(web))
    since = time.time()
    web.view({path: round(100 * priority) for path, priority in priorities.items()})
    for path in priorities:
        web.write(path, f"{NEW} Now.")
    web.until(priorities, since)
    before = web.sent()
    seen = refresh(tmp_path / "c", request(web, threshold))
    assert (seen.visited, seen.changed) == (downloads, downloads)
    pages = {path for path in (web.sent() - before) if path.endswith((".html", "/"))}
    assert pages == {address(path) for path, priority in priorities.items() if priority > threshold}
