"""Rendering of pages: what they request, what is stored, and how hostile pages end."""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.script_site import build_shop, crawl_rendered, json_page, needs_browser, script_page, text_page
from tests.support.site import Page, Site, html

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, Url, Visit
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_stored_record, resolve_known_url
from sanderling.warc.warc_reader import StoredRecord, iterate_records, read_member
from sanderling.workers.browser.process_memory import find_descendants
from sanderling.workers.browser.rendering_loop import RenderingLoop
from sanderling.workers.worker import compute_fingerprints

pytestmark = [needs_browser, pytest.mark.slow]
ROBOTS = text_page("User-agent: *\nDisallow: /private\n", "text/plain")


class RenderedSite(Site):
    """A site, and a rendering loop for it."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        super().__init__({"/robots.txt": ROBOTS, **pages})
        self.loop = RenderingLoop(FetchSettings(allow_private=True, render="always"), compute_fingerprints)

    def visit(self, *paths: str, seconds: float = 90.0) -> dict[str, Visit]:
        """Fetch these paths and return the visits by path."""
        tasks = tuple(FetchTask(n, n, Url(self.root + path)) for n, path in enumerate(paths, 1))
        self.loop.submit(FetchBatch(Host(self.root), tasks, delay_seconds=0.0, max_connections=8))
        visits: dict[str, Visit] = {}
        deadline = time.monotonic() + seconds
        while len(visits) < len(paths) and time.monotonic() < deadline:
            visits |= {visit.url.removeprefix(self.root): visit for visit in self.loop.run_for(0.05).visits}
        return visits

    def render(self, path: str) -> tuple[Visit, str]:
        """Fetch a path; return its visit and the stored body."""
        visit = self.visit(path)[path]
        return visit, read_member(visit.response_record).body.decode() if visit.response_record else ""


@pytest.fixture
def make_site() -> Iterator[type[RenderedSite]]:
    sites: list[RenderedSite] = []

    class Tracked(RenderedSite):
        def __enter__(self) -> "Tracked":
            sites.append(self)
            return super().__enter__()

    yield Tracked
    for site in sites:
        site.loop.close()


def read_stored(folder: Path, url: str) -> StoredRecord:
    with open_collection_read_only(folder) as collection:
        id_, key = resolve_known_url(collection, url)
        return load_stored_record(collection, id_, key, None)


def test_text_and_links_of_a_single_page_application_are_crawled(tmp_path: Path) -> None:
    with Site(build_shop({"1": "the tide comes in", "2": "the tide goes out"})) as site:
        assert crawl_rendered(tmp_path, site).pages == 3
        assert site.hits["/app.js"] == 1  # cached by the worker
        assert max(site.hits[path] for path in site.hits) == 1  # the document is not requested again by the browser
        with open_collection_read_only(tmp_path) as collection:
            assert {row.title for row in load_pages(collection.db)} == {"App", "Item 1", "Item 2"}
        record = read_stored(tmp_path, f"{site.root}/1")
    assert (record.record_type, record.url) == ("resource", f"urn:dom:{site.root}/1")
    assert b"the tide comes in" in record.body
    assert b"No scripts?" not in record.body


def test_requests_of_a_page_follow_its_record_in_the_archive(tmp_path: Path) -> None:
    with Site(build_shop({"1": "the tide"})) as site:
        crawl_rendered(tmp_path, site)
    records = [r for path in sorted(tmp_path.glob("archive/*.gz")) for r in iterate_records(path, verify=True)]
    stored = [r for r in records if isinstance(r, StoredRecord)]
    assert len(stored) == len(records)
    assert all(record.is_intact is not False for record in stored)
    (dom,) = [r for r in stored if r.url == f"urn:dom:{site.root}/1"]
    following = [r for r in stored if r.get_field("WARC-Concurrent-To") == dom.get_field("WARC-Record-ID")]
    assert [(r.record_type, r.url.removeprefix(site.root)) for r in following] == [
        ("response", "/1"), ("request", "/1"), ("response", "/api/item/1"), ("request", "/api/item/1"),
    ]  # fmt: skip
    index = (tmp_path / "indexes/index.cdxj").read_text()
    assert f'"{site.root}/api/item/1"' in index
    assert "urn:dom" not in index


def test_page_without_scripts_is_not_rendered(make_site: type[RenderedSite]) -> None:
    with make_site({"/": html(text="plain")}) as site:
        visit, _ = site.render("/")
        assert (visit.outcome, visit.is_rendered, site.loop._renderer.start_count) == (Outcome.FETCHED, False, 0)


def test_requests_of_a_page_obey_robots_and_the_address_guard(make_site: type[RenderedSite]) -> None:
    script = """
      const show = text => document.body.insertAdjacentHTML("beforeend", `<p>${text}</p>`);
      for (const url of ["/private/data", "/open", "http://user:pass@127.0.0.1:1/"])
        fetch(url).then(r => r.text()).then(show, () => show("refused " + url));
    """
    with make_site(
        {"/": script_page(script), "/open": json_page("open data"), "/private/data": json_page("no")}
    ) as site:
        visit, dom = site.render("/")
        assert (visit.outcome, visit.is_rendered) == (Outcome.FETCHED, True)
        assert "open data" in dom
        assert "refused /private/data" in dom
        assert not site.hits["/private/data"]


def test_only_queries_are_posted(make_site: type[RenderedSite]) -> None:
    script = """
      const post = body => fetch("/graphql", { method: "POST", body: JSON.stringify(body) }).catch(() => 0);
      post({ query: "mutation { buy }" }); post({ order: 1 }); post({ query: "query { price }" });
      navigator.sendBeacon("/beacon", "x"); fetch("/delete", { method: "DELETE" }).catch(() => 0);
    """
    posted = []
    with make_site({"/": script_page(script)}) as site:

        def do_post(handler: object) -> None:
            posted.append(handler.rfile.read(int(handler.headers["Content-Length"])))  # type: ignore[attr-defined]
            site.answer(handler)  # type: ignore[arg-type]

        site.server.RequestHandlerClass.do_POST = do_post  # type: ignore[attr-defined]
        visit, _ = site.render("/")
        assert posted == [b'{"query":"query { price }"}']
        assert set(site.hits) == {"/robots.txt", "/", "/graphql"}
        assert [c.is_indexed for c in visit.captures] == [True, False]  # replay tools index requests by GET


def test_nothing_else_leaves_the_browser(make_site: type[RenderedSite]) -> None:
    script = """
      open("/popup"); new Image().src = "/picture.png";
      new WebSocket(location.origin.replace("http", "ws") + "/socket");
      try { new EventSource("/stream"); } catch (error) { document.title = "no stream"; }
      navigator.serviceWorker?.register("/service.js").catch(() => 0);
      document.head.insertAdjacentHTML("beforeend", '<link rel="prefetch" href="/prefetched">');
      const frame = document.createElement("iframe"); frame.src = "/frame"; document.body.append(frame);
      const save = document.createElement("a"); save.href = "/file.zip"; save.download = "x"; save.click();
      const blank = document.createElement("a"); blank.href = "/window"; blank.target = "_blank"; blank.click();
      Notification?.requestPermission?.();
    """
    with make_site({"/": script_page(script)}) as site:
        visit, _ = site.render("/")
        assert (visit.outcome, visit.is_rendered) == (Outcome.FETCHED, True)
        assert set(site.hits) == {"/robots.txt", "/"}


def test_navigation_by_script_is_a_redirect(make_site: type[RenderedSite]) -> None:
    with make_site({"/": script_page('location.href = "/next?a=1"')}) as site:
        visit, _ = site.render("/")
        assert (visit.outcome, visit.location) == (Outcome.REDIRECT, f"{site.root}/next?a=1")
        assert not site.hits["/next?a=1"]


@pytest.mark.parametrize(
    ("script", "reasons"),
    [
        ("while (true);", {Reason.RENDER_TIMEOUT}),
        ("addEventListener('load', () => { while (true); })", {Reason.RENDER_TIMEOUT}),
        ("while (true) alert('again')", {Reason.RENDER_TIMEOUT}),
        ("const kept = []; while (true) kept.push(new Float64Array(4e6).fill(1));", {Reason.RENDER_MEMORY}),
        # The heap of a script is limited: whether it is full before the time is over depends on the machine.
        ("let kept = []; while (true) kept.push({ kept });", {Reason.RENDER_CRASHED, Reason.RENDER_TIMEOUT}),
    ],
)
def test_hostile_script_ends_in_a_named_outcome(
    make_site: type[RenderedSite], script: str, reasons: set[Reason]
) -> None:
    with make_site(
        {"/": script_page(script, "<p>server text</p>"), "/next": script_page("document.title = 'b'")}
    ) as site:
        visit, body = site.render("/")
        assert (visit.outcome, visit.is_rendered) == (Outcome.FETCHED, False)
        assert visit.reason in reasons
        assert visit.detail
        assert "server text" in body  # what the server sent is stored
        assert site.visit("/next")["/next"].title == "b"  # the browser goes on


@pytest.mark.parametrize(
    "script",
    [
        "setInterval(() => document.body.append('more'), 5)",
        "location.reload()",
        "(function again() { fetch('/x?' + Math.random()).finally(again); })()",
        "for (let n = 0; n < 5000; n++) fetch('/y' + n).catch(() => 0)",
        "for (let n = 0; n < 50; n++) alert(n); document.title = 'done'",
        "setInterval(() => open('/w'), 1)",
        "onbeforeunload = event => event.preventDefault(); document.title = 'stay'",
        "document.write('<p>written</p>'.repeat(1000)); window.stop()",
        "let box = document.body; for (let n = 0; n < 20000; n++) { box.append(box = document.createElement('b')); }",
        "throw new Error('x'.repeat(1e6))",
    ],
)
def test_page_that_is_never_still_is_stored_as_it_is(make_site: type[RenderedSite], script: str) -> None:
    with make_site({"/": script_page(script)}) as site:
        site.loop._renderer._config = replace(site.loop._renderer._config, page_seconds=4.0, total_seconds=20.0)
        visit, _ = site.render("/")
        assert visit.outcome is Outcome.FETCHED
        assert sum(site.hits.values()) < 310


def test_scrolling_and_load_more_are_bounded(make_site: type[RenderedSite]) -> None:
    script = """
      let shown = 0;
      const add = () => { for (let n = 0; n < 20; n++) document.getElementById("list")
        .insertAdjacentHTML("beforeend", `<p style="height:100px"><a href="/item/${shown++}">Item</a></p>`); };
      add();
      new IntersectionObserver(entries => entries[0].isIntersecting && shown < 60 && add())
        .observe(document.getElementById("end"));
      document.getElementById("more").onclick = () => { if (shown < 120) add(); };
      document.getElementById("accept").onclick = () => add(document.title = "accepted");
    """
    markup = """<div id="list"></div><div id="end">.</div><button id="more">Load more</button>
      <button id="accept">Accept all</button><form action="/buy" method="post"><button>Show more</button></form>"""
    with make_site(
        {"/": script_page(script, markup), "/endless": script_page(script.replace("120", "1e9"), markup)}
    ) as site:
        visit, _ = site.render("/")
        assert {link.url for link in visit.links} == {f"{site.root}/item/{n}" for n in range(120)}
        assert visit.title == "a page"
        endless, _ = site.render("/endless")
        assert 120 < len(endless.links) <= 300
        assert not site.hits["/buy"]


def find_victim(process: int, kind: str) -> int:
    """Return the browser process, Chromium below it, or the process of a page; 0: none runs."""
    if kind == "browser process":
        return process
    for found in reversed(find_descendants(process)):
        with suppress(OSError):
            command = Path(f"/proc/{found}/cmdline").read_bytes()
            is_chromium = b"--headless" in command and b"--type" not in command
            if is_chromium if kind == "Chromium" else b"--type=renderer" in command:
                return found
    return 0


@pytest.mark.parametrize("kind", ["browser process", "Chromium", "page"])
def test_killed_browser_loses_no_page(make_site: type[RenderedSite], kind: str) -> None:
    names = [str(n) for n in range(8)]
    with make_site(build_shop({name: f"text {name}" for name in names})) as site:
        tasks = tuple(FetchTask(n, n, Url(f"{site.root}/{name}")) for n, name in enumerate(names, 1))
        site.loop.submit(FetchBatch(Host(site.root), tasks, delay_seconds=0.0, max_connections=8))
        visits: list[Visit] = []
        kills, deadline, last_kill = 0, time.monotonic() + 120, time.monotonic()
        while len(visits) < len(names) and time.monotonic() < deadline:
            visits += site.loop.run_for(0.02).visits
            is_due = kills < 2 and site.loop._renderer.started and time.monotonic() - last_kill > 0.3
            process = find_victim(site.loop._renderer.process_id, kind) if is_due else 0
            if process:
                os.kill(process, signal.SIGKILL)
                kills, last_kill = kills + 1, time.monotonic()
        assert kills == 2
        assert sorted(visit.title for visit in visits) == [f"Item {name}" for name in names]


def test_closed_loop_leaves_no_process(make_site: type[RenderedSite]) -> None:
    with make_site(build_shop({"1": "a"})) as site:
        site.visit("/1")
        processes = find_descendants(site.loop._renderer.process_id)
        assert processes
        site.loop.close()
        deadline = time.monotonic() + 10
        while any(Path(f"/proc/{process}/cmdline").exists() for process in processes) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not [
            p for p in processes if Path(f"/proc/{p}/cmdline").exists() and Path(f"/proc/{p}/cmdline").read_bytes()
        ]
