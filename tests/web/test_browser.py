"""The application in a real Chromium."""

from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest
from tests.support.site import Site
from tests.templates.test_query_fulfillment import shop
from tests.web.conftest import HOSTILE, CrawledSite, ServerThread

from sanderling.api.replay.sanitize import build_content_policy
from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.cli import main
from sanderling.search.feedback.unmet_queries import list_unmet_queries
from sanderling.search.indexer import update_index
from sanderling.web import state as web_state
from sanderling.web.auth import SESSION_COOKIE
from sanderling.web.server import ServerAddress, open_app_state
from sanderling.web.state import AppState
from sanderling.web.tracking import CLIENT_COOKIE

CHROMIUM = Path("/usr/bin/chromium")
TIMEOUT_MS = 30_000

pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason="chromium is not installed (Debian package chromium)"),
    pytest.mark.skipif(find_library("atomic") is None, reason="playwright needs the Debian package libatomic1"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        instance = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield instance
        instance.close()


@pytest.fixture
def app_state(server_thread: ServerThread) -> AppState:
    server_thread.app_state.event_log.erase()
    server_thread.app_state.auth_store.set_setting("tracking", "on")
    return server_thread.app_state


@pytest.fixture
def page(browser: Any, server_thread: ServerThread, app_state: AppState) -> Iterator[Any]:
    context = browser.new_context(base_url=server_thread.root)
    new_page = context.new_page()
    new_page.set_default_timeout(TIMEOUT_MS)
    new_page.errors = []
    new_page.on("pageerror", lambda error: new_page.errors.append(str(error)))
    yield new_page
    context.close()


def get_recorded_actions(app_state: AppState) -> set[str]:
    return {row[0] for row in app_state.event_log.db.execute("SELECT DISTINCT action_name FROM events")}


def wait_until(page: Any, condition: Callable[[], bool]) -> None:
    for _ in range(100):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("the condition did not hold in time")


def scroll_frame(page: Any, frame: Any) -> None:
    """Scroll by the mouse wheel; repeat, since events before layout are lost."""
    for _ in range(100):
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(50)
        if frame.evaluate("scrollY") > 0:
            return
    raise AssertionError("the frame did not scroll")


def wait_for_actions(page: Any, app_state: AppState, expected: set[str]) -> None:
    for _ in range(100):
        missing = expected - get_recorded_actions(app_state)
        if not missing:
            return
        page.evaluate("window.sanderling && sanderling.send()")
        page.wait_for_timeout(50)
    raise AssertionError(f"not recorded: {missing}")


def watch_requests(page: Any) -> list[str]:
    """Collect requests to other sites and settings."""
    requests: list[str] = []

    def intercept(route: Any) -> None:
        requests.append(route.request.url)
        route.fulfill(status=200, body="top.document.body.dataset.pwned = 'loaded'", content_type="text/javascript")

    for pattern in ("https://elsewhere.example/**", "**/settings", "**/logout"):
        page.route(pattern, intercept)
    return requests


def test_search_filter_and_open(page: Any, crawled_site: CrawledSite) -> None:
    page.goto("/")
    page.locator("#q:focus").wait_for()  # autofocus takes a moment
    page.keyboard.type("shore")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=shore")
    assert page.locator(".hit").count() == 10
    assert page.locator(".hit mark").first.inner_text().lower() == "shore"
    page.locator(".facets a", has_text="text").click()
    page.wait_for_url("**type%3Atext**")
    assert page.locator(".hit").count() == 1
    page.locator(".hit h2 a").click()
    stored = page.frame_locator("#stored")
    assert "knot" in stored.locator("body").inner_text()
    assert page.errors == []


def test_keyboard_shortcuts(page: Any) -> None:
    page.goto("/?q=shore")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.querySelectorAll('.hit h2 a')[0]")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement === document.querySelectorAll('.hit h2 a')[1]")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"


def test_every_user_action_is_recorded(page: Any, app_state: AppState, crawled_site: CrawledSite) -> None:
    page.goto("/?q=gull")
    page.locator(".hit h2 a").first.click()
    wait_for_actions(page, app_state, {"click"})
    body = page.frame_locator("#stored").locator("body")
    page.wait_for_load_state("load")  # `stop` would abort the load
    body.wait_for()
    page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
    for tool in ("bookmark", "print", "stop"):
        page.locator(f"[data-do={tool}]").click()
    with page.expect_download():
        page.locator("[data-do=save]").click()
    page.locator("[data-do=search_text]").click()
    page.keyboard.type("gull")
    page.keyboard.press("Enter")
    body.click(position={"x": 5, "y": 5})
    page.keyboard.press("a")
    frame = page.frames[1]
    frame.evaluate("document.body.style.height = '9000px'; document.execCommand('selectAll')")
    page.keyboard.press("Control+c")
    scroll_frame(page, frame)
    expected = {"click", "bookmark", "print", "stop", "save", "search_text", "mouse_click", "key", "copy", "scroll"}
    wait_for_actions(page, app_state, expected)
    page.locator("[data-do=reload]").click()
    page.wait_for_load_state()
    body.locator("a").first.click()
    page.wait_for_url("**/view?url=**")
    wait_for_actions(page, app_state, {"reload", "hyperlink", "dwell", "active"})
    page.go_back()
    page.go_back()
    page.wait_for_url("**/?q=gull**")
    wait_for_actions(page, app_state, {"back"})
    page.go_forward()
    page.wait_for_url("**/view?url=**")
    page.locator("[data-action=home]").click()
    wait_for_actions(page, app_state, {"forward", "home"})
    (client,) = (cookie["value"] for cookie in page.context.cookies() if cookie["name"] == CLIENT_COOKIE)
    rows = app_state.event_log.db.execute("SELECT DISTINCT action_name FROM events WHERE client_id = ?", (client,))
    assert expected | {"reload", "hyperlink", "dwell", "active", "back", "forward", "home"} <= {row[0] for row in rows}


def test_bad_rating_is_asked_for_once_and_stored(page: Any, app_state: AppState) -> None:
    page.goto("/?q=shore+sandpiper")
    rating = page.locator("#rating")
    assert rating.is_hidden()
    page.locator("#q").focus()
    page.keyboard.type("s")
    rating.get_by_role("button", name="Not what I was looking for").click()
    rating.get_by_text("being crawled").wait_for()
    assert [unmet.query for unmet in list_unmet_queries(app_state.event_log)] == ["shore sandpiper"]
    page.reload()
    assert "being crawled" in page.locator(".unmet-query").inner_text()


def test_unmet_query_is_crawled_and_found(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_state, "UNMET_CHECK_SECONDS", 0.2)
    with Site(shop(4)) as site:
        assert main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--quiet"]) == 0
        update_index(tmp_path)
        site.pages |= shop(9)
        server = ServerThread(open_app_state(tmp_path, ServerAddress()))
        server.app_state.auth_store.set_setting("tracking", "on")
        server.app_state.auth_store.set_setting("crawl_more", "on")
        server.start()
        try:
            page = browser.new_context(base_url=server.root).new_page()
            page.set_default_timeout(60_000)
            page.goto("/?q=chairs+number")
            assert "chairs-3.html" in page.content()
            page.locator("#q").press_sequentially(" blue")
            page.get_by_role("button", name="Not what I was looking for").click()
            page.goto("/?q=chairs+number")
            page.get_by_text("5 new pages").wait_for(timeout=60_000)
            assert update_index(tmp_path) > 0
            url = "/?q=chairs+number+8"
            wait_until(page, lambda: bool(page.goto(url)) and "chairs-8.html" in page.content())
        finally:
            server.stop()
            crawl_view = server.app_state.crawl_view
            assert isinstance(crawl_view, CollectionCrawlView)
            if crawl_view.crawl_process.child is not None:
                crawl_view.crawl_process.child.wait()
            server.app_state.close()


def test_do_not_track_gets_no_script_and_no_cookie(
    browser: Any, server_thread: ServerThread, crawled_site: CrawledSite
) -> None:
    context = browser.new_context(base_url=server_thread.root, extra_http_headers={"DNT": "1"})
    page = context.new_page()
    page.goto("/?q=gull")
    page.locator(".hit h2 a").first.click()
    assert page.frame_locator("#stored").locator("script").count() == 0
    assert context.cookies() == []
    context.close()


def test_hostile_page_is_isolated(page: Any, server_thread: ServerThread, crawled_site: CrawledSite) -> None:
    requests = watch_requests(page)
    page.goto(f"/view?url={crawled_site.url('/hostile')}")
    stored = page.frame_locator("#stored")
    stored.locator("#js").click()
    stored.locator("#go").click()
    frame = page.frames[1]
    assert frame.evaluate("self.origin") == "null"
    for attack in ("parent.document.title", "top.localStorage.length", "document.cookie", "localStorage.length"):
        script = f"(() => {{ try {{ {attack}; return 'reached' }} catch {{ return 'refused' }} }})()"
        assert frame.evaluate(script) == "refused"
    assert frame.evaluate("fetch('/settings').then(() => 'reached', () => 'refused')") == "refused"
    assert page.evaluate("document.body.dataset.pwned") is None
    assert page.url.startswith(server_thread.root + "/view")
    assert requests == []


def test_content_policy_alone_isolates_an_unsanitized_page(
    page: Any, server_thread: ServerThread, crawled_site: CrawledSite
) -> None:
    headers = {
        "Content-Security-Policy": build_content_policy("unguessed", allow_scripts=True),
        "Content-Type": "text/html",
    }
    page.route("**/stored?**", lambda route: route.fulfill(status=200, headers=headers, body=HOSTILE))
    requests = watch_requests(page)
    page.goto(f"/view?url={crawled_site.url('/hostile')}")
    page.wait_for_timeout(300)  # a frame may navigate itself; frame-ancestors blocks the target
    assert page.evaluate("document.body.dataset.pwned") is None
    assert page.evaluate("window.pwned") is None
    assert page.url.startswith(server_thread.root + "/view")
    assert [url for url in requests if "elsewhere" in url] == []


def test_injected_scripts_do_not_run(page: Any) -> None:
    page.goto("/?q=<img src=x onerror=document.title='pwned'>")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    page.wait_for_timeout(150)
    assert page.title().startswith("<img")


def test_dashboard_updates_itself(page: Any) -> None:
    page.goto("/dashboard")
    wait_until(page, lambda: int(page.evaluate("document.body.dataset.live || 0")) >= 2)
    assert page.locator("#pages").inner_text() == "17"
    assert page.errors == []


def test_changes_link_to_the_diff(page: Any) -> None:
    page.goto("/changes?kind=content")
    page.locator(".list .name").first.click()
    page.get_by_role("link", name="compare").first.click()
    assert "hovers" in page.locator("ins").all_inner_texts()[0]


def test_login_opens_the_settings(page: Any, app_state: AppState) -> None:
    app_state.auth_store.set_setting("password", app_state.auth_store.hasher.hash("correct horse"))
    page.goto("/login")
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Log in").click()
    assert page.get_by_role("alert").inner_text() == "Wrong password."
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/settings")
    page.get_by_label("Retention in days").fill("40")
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.get_by_role("status").inner_text() == "Saved."
    assert app_state.retention_days == 40
    app_state.auth_store.set_setting("retention_days", "90")


READABILITY_SCRIPT = (Path(__file__).parent / "readable.js").read_text()


def list_paths(crawled_site: CrawledSite) -> tuple[str, ...]:
    url = crawled_site.url("/tern")
    newest, oldest = (
        v.visit for v in CollectionCrawlView(crawled_site.folder).list_visits(url, 10) if v.outcome == "fetched"
    )
    return (
        "/", "/?q=shore&explain=1", "/?q=nothinglikeit", f"/view?url={crawled_site.url('/gull')}", "/dashboard",
        "/changes", "/changes?kind=content&days=7", f"/history?url={url}", f"/diff?url={url}&old={oldest}&new={newest}",
        "/due", "/stats", "/login", "/privacy", "/settings", "/nowhere",
    )  # fmt: skip


@pytest.fixture(params=["light", "dark"])
def logged_in_page(
    request: pytest.FixtureRequest, browser: Any, server_thread: ServerThread, app_state: AppState
) -> Iterator[Any]:
    """Return a logged-in page, in the light or dark color scheme."""
    server_thread.rate_limiter.buckets.clear()
    app_state.auth_store.set_setting("password", app_state.auth_store.hasher.hash("correct horse"))
    session = app_state.auth_store.log_in("correct horse", app_state.clock())
    assert session is not None
    context = browser.new_context(base_url=server_thread.root, color_scheme=request.param, bypass_csp=True)
    context.add_cookies([{"name": SESSION_COOKIE, "value": session.id, "url": server_thread.root}])
    page = context.new_page()
    page.goto("/?q=shore+wader")
    page.goto("/?q=shore+birds+of+the+coast")  # rephrased without a click: an unmet query
    yield page
    context.close()


WIDTHS = {"light": 1280, "dark": 390}  # colors do not depend on the width


def test_axe_finds_no_violations_on_desktop_and_phone(
    logged_in_page: Any, crawled_site: CrawledSite, request: pytest.FixtureRequest
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    logged_in_page.set_viewport_size({"width": WIDTHS[request.node.callspec.params["logged_in_page"]], "height": 800})
    violations = []
    for path in list_paths(crawled_site):
        logged_in_page.goto(path)
        assert logged_in_page.url.endswith(path.partition("?")[0]) or "?" in path, path  # not redirected
        results = axe.run(logged_in_page)["violations"]
        violations += [
            (path, violation["id"], violation["impact"], violation["nodes"][0]["html"][:120]) for violation in results
        ]
    assert violations == []


def test_login_error_is_accessible(page: Any, server_thread: ServerThread) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    server_thread.rate_limiter.buckets.clear()
    page.goto("/login")
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("alert").wait_for()
    assert [violation["id"] for violation in axe.run(page)["violations"]] == []


def test_pages_are_readable_and_fit_a_phone(logged_in_page: Any, crawled_site: CrawledSite) -> None:
    logged_in_page.set_viewport_size({"width": 390, "height": 800})
    for path in list_paths(crawled_site):
        logged_in_page.goto(path)
        assert logged_in_page.evaluate(READABILITY_SCRIPT) == [], path


def test_tables_fit_a_phone(logged_in_page: Any, crawled_site: CrawledSite) -> None:
    logged_in_page.set_viewport_size({"width": 390, "height": 800})
    for path in ("/dashboard", f"/history?url={crawled_site.url('/tern')}"):
        logged_in_page.goto(path)
        script = (
            "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth).map(s => s.ariaLabel)"
        )
        assert logged_in_page.evaluate(script) == [], path


def test_part_to_watch_is_picked_by_a_click(logged_in_page: Any, crawled_site: CrawledSite) -> None:
    page = logged_in_page
    page.goto("/watches")
    page.fill("#url", f"{crawled_site.root}/gull")
    page.click("button[value=pick]")
    page.frame_locator("#stored").locator("p").first.click()
    page.wait_for_function("document.getElementById('picked').textContent.startsWith('The gull eats')")
    picked = page.input_value("#selector")
    page.click("button[value=add]")
    assert page.locator("code", has_text=picked).is_visible()
    assert page.frame_locator("#stored").locator("p").count() == 0
    page.click("button[value=remove]")
