"""WACZ files of Sanderling, opened by replayweb.page in Chromium."""

import threading
import zlib
from collections.abc import Iterator
from ctypes.util import find_library
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.support.site import Page, Site

from sanderling.cli import main

CHROMIUM = Path("/usr/bin/chromium")
VIEWERS = sorted((Path(__file__).parents[2] / "build").glob("replayweb.page-*/sw.js"))
TIMEOUT_MS = 60_000

pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason="chromium is not installed (Debian package chromium)"),
    pytest.mark.skipif(find_library("atomic") is None, reason="playwright needs the Debian package libatomic1"),
    pytest.mark.skipif(not VIEWERS, reason="replayweb.page is not there: bash scripts/replayweb.sh (needs npm)"),
]


def build_png(width: int) -> bytes:
    """Return a gray picture of one line."""

    def build_chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    header = width.to_bytes(4) + (1).to_bytes(4) + b"\x08\x00\x00\x00\x00"
    lines = zlib.compress(b"\x00" + b"\x80" * width)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        build_chunk(kind, data) for kind, data in ((b"IHDR", header), (b"IDAT", lines), (b"IEND", b""))
    )


PAGES = {
    "/": Page(b"<title>Home</title><link rel=stylesheet href=/s.css><h1>Heron</h1><img src=/a.png><a href=/two>2</a>"),
    "/two": Page(b"<title>Two</title><p>Egret"),
    "/a.png": Page(build_png(37), headers={"Content-Type": "image/png"}),
    "/s.css": Page(b"h1 { color: rgb(1, 2, 3) }", headers={"Content-Type": "text/css"}),
}


class Viewer(BaseHTTPRequestHandler):
    """Serves replayweb.page and a WACZ file, with ranges, as the viewer requests them."""

    protocol_version = "HTTP/1.1"
    package: ClassVar[Path]
    files: ClassVar[dict[str, bytes]]

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        body = self.files.get(path)
        status, headers = (404 if body is None else 200), {"Accept-Ranges": "bytes"}
        body = body or b""
        if (requested := self.headers["Range"]) and status == 200:
            first, _, last = requested.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(0, len(body) - int(last))
            end = min(len(body), int(last) + 1) if first and last else len(body)
            status, headers["Content-Range"] = 206, f"bytes {start}-{end - 1}/{len(body)}"
            body = body[start:end]
        self.send_response(status)
        kind = {".js": "text/javascript", ".wacz": "application/wacz"}.get(Path(path).suffix, "text/html")
        for name, value in {**headers, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Replay:
    """An archived site, and a browser that shows its WACZ file."""

    def __init__(self, root: str, origin: str, browser: Any) -> None:
        self.root, self._origin = root, origin
        self._page = browser.new_page()
        self._page.set_default_timeout(TIMEOUT_MS)

    @cached_property
    def home(self) -> Any:
        """The frame with the start page."""
        self._page.goto(f"{self._origin}/")
        return self._page.frame_locator("replay-web-page iframe").frame_locator("iframe")


@pytest.fixture
def replay(tmp_path: Path) -> Iterator[Replay]:
    sync_api = pytest.importorskip("playwright.sync_api")
    flags = ["-C", str(tmp_path / "c"), "--quiet"]
    with Site(PAGES) as site:
        root = f"{site.root}/"
        assert main(["archive", root, *flags, "--delay", "0", "--allow-private", "--workers", "1", "--no-index"]) == 0
    assert main(["export", *flags, "-o", str(tmp_path / "site.wacz")]) == 0
    folder = VIEWERS[-1].parent
    start = (
        '<!doctype html><script src="/ui.js"></script><replay-web-page embed="replayonly" replayBase="/replay/"'
        f' source="/site.wacz" url="{root}"></replay-web-page>'
    )
    Viewer.files = {"/": start.encode(), "/site.wacz": (tmp_path / "site.wacz").read_bytes()}
    Viewer.files |= {f"/{name}": (folder / name).read_bytes() for name in ("ui.js",)}
    Viewer.files |= {f"/replay/{name}": (folder / name).read_bytes() for name in ("ui.js", "sw.js")}
    Viewer.files["/replay/"] = (folder / "index.html").read_bytes()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Viewer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with sync_api.sync_playwright() as playwright:
            arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
            browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
            yield Replay(root, f"http://127.0.0.1:{server.server_port}", browser)
            browser.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_page_is_shown_with_its_style_and_picture_and_links_work(replay: Replay) -> None:
    heading = replay.home.locator("h1")
    heading.wait_for()
    assert heading.inner_text() == "Heron"
    assert heading.evaluate("element => getComputedStyle(element).color") == "rgb(1, 2, 3)"
    picture = replay.home.locator("img")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 37
    replay.home.locator("a").click()
    replay.home.locator("p").wait_for()
    assert replay.home.locator("p").inner_text() == "Egret"
