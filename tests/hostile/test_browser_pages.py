"""Pages that try to reach private addresses, to leave the page, or to exhaust the browser."""

import gzip
import importlib
import os
import signal
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from tests.support.script_site import build_render_request, needs_browser, script_page, text_page
from tests.support.site import Page, Site, redirect

from sanderling.crawl.session import crawl
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, Url, Visit
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages
from sanderling.warc.warc_reader import read_member
from sanderling.workers.browser.adaptive_loop import AdaptiveLoop
from sanderling.workers.browser.process_memory import find_descendants
from sanderling.workers.worker import compute_fingerprints

pytestmark = [needs_browser, pytest.mark.slow]
PRIVATE = (
    "http://127.0.0.2:{port}/secret", "http://[::1]:{port}/secret",
    "http://127.2:{port}/secret", "http://2130706434:{port}/secret", "http://0x7f000002:{port}/secret",
    "http://[::ffff:127.0.0.2]:{port}/secret", "http://10.0.0.1/secret", "http://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd", "chrome://version", "view-source:file:///etc/passwd",
)  # fmt: skip


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[AdaptiveLoop]:
    """A fetch loop for which 127.0.0.1 is the only public address."""
    for name in ("address_guard", "curl_transfer"):
        module = importlib.import_module(f"sanderling.fetch.{name}")
        monkeypatch.setattr(module, "is_global", lambda address: address == "127.0.0.1")
    found = AdaptiveLoop(FetchSettings(render="always", idle_timeout=3.0, timeout=10.0), compute_fingerprints)
    found._renderer._config = replace(found._renderer._config, page_seconds=6.0, total_seconds=25.0)
    yield found
    found.close()


def visit(loop: AdaptiveLoop, site: Site, *paths: str, delay: float = 0.0) -> dict[str, Visit]:
    tasks = tuple(FetchTask(n, n, Url(site.root + path)) for n, path in enumerate(paths, 1))
    loop.submit(FetchBatch(Host(site.root), tasks, ("127.0.0.1",), delay_seconds=delay, max_connections=8))
    visits: dict[str, Visit] = {}
    deadline = time.monotonic() + 120
    while len(visits) < len(paths) and time.monotonic() < deadline:
        visits |= {found.url.removeprefix(site.root): found for found in loop.run_for(0.05).visits}
    return visits


def read_dom(found: Visit) -> str:
    return read_member(found.response_record).body.decode()


def test_scripts_reach_no_private_address(loop: AdaptiveLoop) -> None:
    with Site({"/secret": text_page("SECRET", "text/plain")}, host="0.0.0.0") as site:
        port = site.server.server_port
        site.root = f"http://127.0.0.1:{port}"
        urls = [url.format(port=port) for url in PRIVATE]
        markup = "".join(
            f'<link rel=stylesheet href="{url}"><script src="{url}"></script><style>@import url({url});'
            f'body {{ background: url({url}) }}</style><iframe src="{url}"></iframe><object data="{url}"></object>'
            f'<embed src="{url}"><video src="{url}"></video><link rel="preconnect" href="{url}">'
            for url in urls
        )
        script = f"""
          for (const url of {urls!r}) {{
            fetch(url).then(r => r.text()).then(t => document.body.append("GO" + "T " + t)).catch(() => 0);
            fetch("/to?" + encodeURIComponent(url)).then(r => r.text())
              .then(t => document.body.append("GO" + "T " + t), () => 0);
            try {{ new Worker(URL.createObjectURL(new Blob([`importScripts("${{url}}")`]))); }} catch (e) {{}}
            import(url).catch(() => 0);
            try {{ new WebSocket(url.replace("http", "ws")); }} catch (e) {{}}
            navigator.sendBeacon(url, "x");
            const frame = document.createElement("iframe");
            frame.srcdoc = `<script src="${{url}}"></` + "script>";
            document.body.append(frame);
          }}"""
        redirects = {"/to?" + quote(url, safe="!'()*"): redirect(url) for url in urls}
        site.pages |= {"/": script_page(script, markup), **redirects}
        found = visit(loop, site, "/")["/"]
        assert (found.outcome, found.is_rendered) == (Outcome.FETCHED, True)
        assert "GOT" not in read_dom(found)
        assert not site.hits["/secret"]
        assert any(path.startswith("/to?") for path in site.hits)


@pytest.mark.parametrize("target", ["http://127.0.0.2:{port}/secret", "http://169.254.169.254/"])
def test_navigation_to_a_private_address_is_a_redirect_that_is_not_followed(loop: AdaptiveLoop, target: str) -> None:
    with Site({"/secret": text_page("SECRET", "text/plain")}, host="0.0.0.0") as site:
        port = site.server.server_port
        site.root, target = f"http://127.0.0.1:{port}", target.format(port=port)
        site.pages["/"] = script_page(f"location = {target!r}")
        found = visit(loop, site, "/")["/"]
        assert (found.outcome, found.location) == (Outcome.REDIRECT, target)
        assert not site.hits["/secret"]


@pytest.mark.parametrize(
    "script",
    [
        "location = 'file:///etc/passwd'",
        "location = 'data:text/html,<h1>elsewhere</h1>'",
        "location = URL.createObjectURL(new Blob(['<h1>elsewhere</h1>'], { type: 'text/html' }))",
        "location = 'javascript:document.write(1)'",
        "document.body.innerHTML += '<form id=f method=post action=/buy></form>'; f.submit()",
        "for (let n = 0; n < 2000; n++) history.pushState({}, '', '/state/' + n)",
        "window.showModalDialog?.('/x'); prompt('name'); confirm('sure'); document.title = 'b'",
        "document.documentElement.requestFullscreen?.(); navigator.geolocation.getCurrentPosition(() => 0)",
        "new Worker(URL.createObjectURL(new Blob(['while (true);']))); document.body.append('worker')",
        "for (let n = 0; n < 200; n++) new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))",
        "fetch('/bomb').then(r => r.text()).then(t => document.body.append(t.length))",
        "fetch('/loop').catch(() => document.body.append('looped'))",
        "fetch('/locked').then(r => document.body.append(r.status))",
        "document.body.append('<p>x</p>'.repeat(3e6))",
        "document.addEventListener('scroll', () => { while (Date.now() % 1000) {} })",
        "new MutationObserver(() => document.body.append('.')).observe(document.body, { childList: true });"
        "document.body.append('start')",
        "document.cookie = 'a=1; max-age=99999'; localStorage.kept = 'x'.repeat(4e6); caches?.open('c')",
    ],
)
def test_hostile_page_ends_in_time_and_the_next_page_is_rendered(loop: AdaptiveLoop, script: str) -> None:
    bomb = gzip.compress(bytes(60_000_000))
    pages = {
        "/": script_page(script, "<p>server text</p>"),
        "/next": script_page("document.title = document.cookie + (localStorage.kept || 'clean')"),
        "/bomb": Page(bomb, headers={"Content-Type": "text/plain", "Content-Encoding": "gzip"}),
        "/loop": redirect("/loop"),
        "/locked": Page(b"", 401, {"WWW-Authenticate": 'Basic realm="x"'}),
    }
    with Site(pages) as site:
        started = time.monotonic()
        found = visit(loop, site, "/")["/"]
        assert found.outcome in (Outcome.FETCHED, Outcome.REDIRECT)
        assert time.monotonic() - started < 60
        assert visit(loop, site, "/next")["/next"].title == "clean"  # nothing is left of the page before
        assert not {"/buy", "/x"} & site.hits.keys()


def test_requests_of_a_page_keep_the_crawl_delay(loop: AdaptiveLoop) -> None:
    script = "for (let n = 0; n < 4; n++) fetch('/data' + n).then(r => r.text()).then(t => document.body.append(t));"
    times: list[float] = []
    data = {f"/data{n}": text_page(f"data {n} ", "text/plain") for n in range(4)}
    with Site({"/": script_page(script), **data}) as site:
        answer = site.answer

        def note_time(handler: BaseHTTPRequestHandler) -> None:
            times.append(time.monotonic())
            answer(handler)

        site.answer = note_time  # type: ignore[method-assign]
        found = visit(loop, site, "/", delay=0.5)["/"]
    assert all(f"data {n}" in read_dom(found) for n in range(4))
    assert len(times) == 6  # with robots.txt
    assert min(later - earlier for earlier, later in pairwise(times)) > 0.4


def test_crawl_goes_on_when_browsers_are_killed(tmp_path: Path) -> None:
    """Kill the browser again and again: every page ends with an outcome, and none is requested without end."""
    pages = {f"/{n}": script_page(f"setTimeout(() => document.title = 'page {n}', 200)") for n in range(30)}
    pages["/"] = Page("".join(f'<a href="/{n}">page</a>' for n in range(30)).encode())
    kills, last_kill = 0, time.monotonic()

    def kill_browsers(*_: object) -> None:
        nonlocal kills, last_kill
        for process in find_descendants(os.getpid()) if time.monotonic() - last_kill > 1.0 and kills < 8 else ():
            command = Path(f"/proc/{process}/cmdline")
            if command.exists() and b"sanderling.workers.browser.chromium" in command.read_bytes():
                os.kill(process, signal.SIGKILL)
                kills, last_kill = kills + 1, time.monotonic()

    with Site(pages) as site:
        summary = crawl(tmp_path, build_render_request(site.root + "/", tabs=2), on_tick=kill_browsers)
    assert kills >= 3
    assert summary.pages == 31
    assert summary.failed == 0
    with open_collection_read_only(tmp_path) as collection:
        titles = [row.title for row in load_pages(collection.db)]
    assert sum(title.startswith("page") for title in titles) >= 25


def test_crash_is_named_and_the_page_is_stored_as_it_was_sent(loop: AdaptiveLoop) -> None:
    script = "const kept = []; while (true) kept.push(new Float64Array(4e6).fill(1));"
    with Site({"/": script_page(script, "<p>server text</p>")}) as site:
        found = visit(loop, site, "/")["/"]
    assert found.reason in (Reason.RENDER_MEMORY, Reason.RENDER_CRASHED, Reason.RENDER_TIMEOUT)
    assert "server text" in read_dom(found)


REMOTE = "http://127.0.0.2:{port}/secret"
ESCAPES = {
    "WebRTC of a frame": """const frame = document.createElement("iframe");
      frame.srcdoc = "<script>try { new RTCPeerConnection(); parent.document.title = 'ESCAPED' } catch (e) {}</"
        + "script>";
      document.body.append(frame);""",
    "beacon of a frame": """const frame = document.createElement("iframe"); document.body.append(frame);
      frame.contentWindow.navigator.sendBeacon(REMOTE, "x");
      frame.contentWindow.fetch(REMOTE, { mode: "no-cors", keepalive: true }).catch(() => 0);""",
    "keepalive": """const send = () => fetch(REMOTE, { keepalive: true, mode: "no-cors", method: "POST", body: "x" });
      send().catch(() => 0); onpagehide = send;""",
    "data frame": """const frame = document.createElement("iframe");
      const markup = `<img src="${REMOTE}"><script>location="${REMOTE}"</` + `script>`;
      frame.src = "data:text/html," + encodeURIComponent(markup);
      document.body.append(frame);""",
    "worker": """const source = `fetch("${REMOTE}", { mode: "no-cors" }).catch(() => 0); importScripts("${REMOTE}")`;
      new Worker(URL.createObjectURL(new Blob([source])));""",
    "speculation rules": """const rules = document.createElement("script"); rules.type = "speculationrules";
      rules.textContent = JSON.stringify({ prefetch: [{ source: "list", urls: [REMOTE] }] });
      document.head.append(rules);""",
    "ping": """const link = document.createElement("a"); link.href = "#x"; link.ping = REMOTE;
      document.body.append(link); link.click();""",
    "form in a new window": """const form = document.createElement("form"); form.action = REMOTE; form.method = "post";
      form.target = "_blank"; document.body.append(form); form.submit();""",
    "service worker": """navigator.serviceWorker?.register("/secret")
      .then(worker => { if (worker) document.title = "ESCAPED"; }, () => 0);""",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_no_interface_of_the_browser_reaches_a_server_by_itself(loop: AdaptiveLoop, name: str) -> None:
    with Site({"/secret": text_page("SECRET", "text/plain")}, host="0.0.0.0") as site:
        port = site.server.server_port
        site.root = f"http://127.0.0.1:{port}"
        site.pages["/"] = script_page(f"const REMOTE = {REMOTE.format(port=port)!r};{ESCAPES[name]}")
        found = visit(loop, site, "/")["/"]
        assert (found.outcome, found.is_rendered, found.title) == (Outcome.FETCHED, True, "a page")
        assert not site.hits["/secret"]


@pytest.mark.parametrize(
    "script",
    [
        "/^(a+)+$/.test('a'.repeat(60) + 'b')",
        "for (;;) { const x = new XMLHttpRequest(); x.open('GET', '/none', false); x.send(); }",
        "const kept = []; setInterval(() => kept.push(new Blob([new Uint8Array(2e7)])), 5)",
        "JSON.stringify = document.createElement = Document.prototype.importNode = () => { throw 1; }",
        "Object.defineProperty(document, 'body', { get() { return { textContent: { length: Math.random() } }; } })",
        "print(); window.close(); document.open(); document.write('<p>x</p>')",
        "setTimeout(() => { history.back(); navigation?.navigate?.('/elsewhere'); }, 50)",
    ],
)
def test_page_that_fights_its_reader_ends_with_an_outcome(loop: AdaptiveLoop, script: str) -> None:
    pages = {"/": script_page(script, "<p>server text</p>"), "/next": script_page("document.title = 'next'")}
    with Site(pages) as site:
        found = visit(loop, site, "/")["/"]
        assert found.outcome in (Outcome.FETCHED, Outcome.REDIRECT)
        assert visit(loop, site, "/next")["/next"].title == "next"
