"""The app in a real Chromium: what people see and do, and what a hostile page cannot."""

from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest
from tests.support.site import Site
from tests.templates.similar.test_query_fulfillment import shop
from tests.web.conftest import HOSTILE, Serving, World

from sanderling.cli import main
from sanderling.search.feedback.unmet_queries import list_unmet_queries
from sanderling.search.indexer import update_index
from sanderling.web import state as search_rooms
from sanderling.web.auth import SESSION_COOKIE
from sanderling.web.crawl_view import CollectionCrawlView
from sanderling.web.sanitize import build_content_policy
from sanderling.web.server import ServerAddress, open_app_state
from sanderling.web.state import AppState
from sanderling.web.tracking import CLIENT_COOKIE as CLIENT

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE = 30_000  # milliseconds to wait for something at most

pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason="chromium is not installed (Debian package chromium)"),
    pytest.mark.skipif(find_library("atomic") is None, reason="what drives the browser needs Debian's libatomic1"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield made
        made.close()


@pytest.fixture
def rooms(served: Serving) -> AppState:
    """The rooms of the app that is served, with nothing recorded yet."""
    served.rooms.event_log.erase()
    served.rooms.auth_store.set_setting("tracking", "on")
    return served.rooms


@pytest.fixture
def page(browser: Any, served: Serving, rooms: AppState) -> Iterator[Any]:
    context = browser.new_context(base_url=served.root)
    made = context.new_page()
    made.set_default_timeout(PATIENCE)
    made.errors = []
    made.on("pageerror", lambda error: made.errors.append(str(error)))
    yield made
    context.close()


def done(rooms: AppState) -> set[str]:
    """Actions recorded so far."""
    return {row[0] for row in rooms.event_log.db.execute("SELECT DISTINCT action_name FROM events")}


def until(page: Any, true: Callable[[], bool]) -> None:
    """Wait until something holds, letting the browser work meanwhile."""
    for _ in range(100):
        if true():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not come to hold")


def turn_the_wheel(page: Any, frame: Any) -> None:
    """Scroll a frame by the wheel; one turn that comes before the page was laid out again goes nowhere."""
    for _ in range(100):
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(50)
        if frame.evaluate("scrollY") > 0:
            return
    raise AssertionError("the frame did not scroll")


def until_done(page: Any, rooms: AppState, wanted: set[str]) -> None:
    """Wait until all of these actions were recorded; say which were not."""
    for _ in range(100):
        missing = wanted - done(rooms)
        if not missing:
            return
        page.evaluate("window.sanderling && sanderling.send()")
        page.wait_for_timeout(50)
    raise AssertionError(f"not recorded: {missing}")


def watch(page: Any) -> list[str]:
    """What the page reaches that it must not reach: another site, or what changes the app."""
    reached: list[str] = []

    def note(route: Any) -> None:
        reached.append(route.request.url)
        route.fulfill(status=200, body="top.document.body.dataset.pwned = 'loaded'", content_type="text/javascript")

    for pattern in ("https://elsewhere.example/**", "**/settings", "**/logout"):
        page.route(pattern, note)
    return reached


def test_search_filter_and_open(page: Any, world: World) -> None:
    page.goto("/")
    page.locator("#q:focus").wait_for()  # it has the focus by itself, a moment after it is there
    page.keyboard.type("shore")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=shore")
    assert page.locator(".hit").count() == 10
    assert page.locator(".hit mark").first.inner_text().lower() == "shore"
    page.locator(".facets a", has_text="text").click()
    page.wait_for_url("**type%3Atext**")
    assert page.locator(".hit").count() == 1
    page.locator(".hit h2 a").click()
    inside = page.frame_locator("#stored")
    assert "knot" in inside.locator("body").inner_text()
    assert page.errors == []


def test_keys_lead_to_the_box_and_through_the_results(page: Any) -> None:
    page.goto("/?q=shore")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.querySelectorAll('.hit h2 a')[0]")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement === document.querySelectorAll('.hit h2 a')[1]")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"


def test_behaviour_is_recorded_one_by_one(page: Any, rooms: AppState, world: World) -> None:
    page.goto("/?q=gull")
    page.locator(".hit h2 a").first.click()
    until_done(page, rooms, {"click"})
    inside = page.frame_locator("#stored").locator("body")
    page.wait_for_load_state("load")  # stopping earlier would keep the page from loading, as it should
    inside.wait_for()
    page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
    for tool in ("bookmark", "print", "stop"):
        page.locator(f"[data-do={tool}]").click()
    with page.expect_download():
        page.locator("[data-do=save]").click()
    page.locator("[data-do=search_text]").click()
    page.keyboard.type("gull")
    page.keyboard.press("Enter")
    inside.click(position={"x": 5, "y": 5})
    page.keyboard.press("a")
    frame = page.frames[1]
    frame.evaluate("document.body.style.height = '9000px'; document.execCommand('selectAll')")
    page.keyboard.press("Control+c")
    turn_the_wheel(page, frame)
    wanted = {"click", "bookmark", "print", "stop", "save", "search_text", "mouse_click", "key", "copy", "scroll"}
    until_done(page, rooms, wanted)
    page.locator("[data-do=reload]").click()
    page.wait_for_load_state()
    inside.locator("a").first.click()
    page.wait_for_url("**/view?url=**")
    until_done(page, rooms, {"reload", "hyperlink", "dwell", "active"})
    page.go_back()
    page.go_back()
    page.wait_for_url("**/?q=gull**")
    until_done(page, rooms, {"back"})
    page.go_forward()
    page.wait_for_url("**/view?url=**")
    page.locator("[data-action=home]").click()
    until_done(page, rooms, {"forward", "home"})
    (client,) = (cookie["value"] for cookie in page.context.cookies() if cookie["name"] == CLIENT)
    mine = rooms.event_log.db.execute("SELECT DISTINCT action_name FROM events WHERE client_id = ?", (client,))
    assert wanted | {"reload", "hyperlink", "dwell", "active", "back", "forward", "home"} <= {row[0] for row in mine}


def test_the_question_is_asked_once_and_no_asks_for_more(page: Any, rooms: AppState) -> None:
    page.goto("/?q=shore+sandpiper")
    ask = page.locator("#ask")
    assert ask.is_hidden()
    page.locator("#q").focus()
    page.keyboard.type("s")
    ask.get_by_role("button", name="Not what I was looking for").click()
    ask.get_by_text("being looked for").wait_for()
    assert [brief.query for brief in list_unmet_queries(rooms.event_log)] == ["shore sandpiper"]
    page.reload()
    assert "being looked for" in page.locator(".brief").inner_text()


def test_what_was_not_found_is_looked_for_and_comes(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_rooms, "UNMET_CHECK_SECONDS", 0.2)
    with Site(shop(4)) as site:
        assert main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--quiet"]) == 0
        update_index(tmp_path)
        site.pages |= shop(9)
        serving = Serving(open_app_state(tmp_path, ServerAddress()))
        serving.rooms.auth_store.set_setting("tracking", "on")
        serving.rooms.auth_store.set_setting("crawl_more", "on")
        serving.start()
        try:
            page = browser.new_context(base_url=serving.root).new_page()
            page.set_default_timeout(60_000)
            page.goto("/?q=chairs+number")
            assert "chairs-3.html" in page.content()
            page.locator("#q").press_sequentially(" blue")
            page.get_by_role("button", name="Not what I was looking for").click()
            page.goto("/?q=chairs+number")
            page.get_by_text("5 new pages").wait_for(timeout=60_000)
            assert update_index(tmp_path) > 0
            found = "/?q=chairs+number+8"
            until(page, lambda: bool(page.goto(found)) and "chairs-8.html" in page.content())
        finally:
            serving.stop()
            window = serving.rooms.crawl_view
            assert isinstance(window, CollectionCrawlView)
            if window.crawl_process.child is not None:
                window.crawl_process.child.wait()
            serving.rooms.event_log.close()
            serving.rooms.auth_store.close()


def test_who_asks_not_to_be_tracked_gets_no_script_and_no_cookie(browser: Any, served: Serving, world: World) -> None:
    context = browser.new_context(base_url=served.root, extra_http_headers={"DNT": "1"})
    page = context.new_page()
    page.goto("/?q=gull")
    page.locator(".hit h2 a").first.click()
    assert page.frame_locator("#stored").locator("script").count() == 0
    assert context.cookies() == []
    context.close()


def test_a_hostile_page_stays_behind_its_walls(page: Any, served: Serving, world: World) -> None:
    reached = watch(page)
    page.goto(f"/view?url={world.url('/hostile')}")
    inside = page.frame_locator("#stored")
    inside.locator("#js").click()
    inside.locator("#go").click()
    frame = page.frames[1]
    assert frame.evaluate("self.origin") == "null"
    for attack in ("parent.document.title", "top.localStorage.length", "document.cookie", "localStorage.length"):
        tried = f"(() => {{ try {{ {attack}; return 'reached' }} catch {{ return 'refused' }} }})()"
        assert frame.evaluate(tried) == "refused"
    assert frame.evaluate("fetch('/settings').then(() => 'reached', () => 'refused')") == "refused"
    assert page.evaluate("document.body.dataset.pwned") is None
    assert page.url.startswith(served.root + "/view")
    assert reached == []


def test_the_policy_alone_holds_even_if_nothing_is_taken_out(page: Any, served: Serving, world: World) -> None:
    headers = {
        "Content-Security-Policy": build_content_policy("unguessed", allow_scripts=True),
        "Content-Type": "text/html",
    }
    page.route("**/stored?**", lambda route: route.fulfill(status=200, headers=headers, body=HOSTILE))
    reached = watch(page)
    page.goto(f"/view?url={world.url('/hostile')}")
    page.wait_for_timeout(300)  # a frame may always leave for another address; there it is refused, see frame-ancestors
    assert page.evaluate("document.body.dataset.pwned") is None
    assert page.evaluate("window.pwned") is None
    assert page.url.startswith(served.root + "/view")
    assert [url for url in reached if "elsewhere" in url] == []


def test_the_app_runs_no_script_that_is_not_its_own(page: Any) -> None:
    page.goto("/?q=<img src=x onerror=document.title='pwned'>")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    page.wait_for_timeout(150)
    assert page.title().startswith("<img")


def test_the_dashboard_moves_by_itself(page: Any) -> None:
    page.goto("/dashboard")
    until(page, lambda: int(page.evaluate("document.body.dataset.live || 0")) >= 2)
    assert page.locator("#pages").inner_text() == "17"
    assert page.errors == []


def test_changes_lead_to_both_versions_side_by_side(page: Any) -> None:
    page.goto("/changes?kind=content")
    page.locator(".list .name").first.click()
    page.get_by_role("link", name="compare").first.click()
    assert "hovers" in page.locator("ins").all_inner_texts()[0]


def test_logging_in_opens_the_settings(page: Any, rooms: AppState) -> None:
    rooms.auth_store.set_setting("password", rooms.auth_store.hasher.hash("correct horse"))
    page.goto("/login")
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Log in").click()
    assert page.get_by_role("alert").inner_text() == "That is not the password."
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/settings")
    page.get_by_label("Days to keep it").fill("40")
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.get_by_role("status").inner_text() == "Saved."
    assert rooms.retention_days == 40
    rooms.auth_store.set_setting("retention_days", "90")


CHECKS = (Path(__file__).parent / "readable.js").read_text()


def paths(world: World) -> tuple[str, ...]:
    """Every page of the app."""
    url = world.url("/tern")
    newest, oldest = (v.visit for v in CollectionCrawlView(world.folder).list_visits(url, 10) if v.outcome == "fetched")
    return (
        "/", "/?q=shore&explain=1", "/?q=nothinglikeit", f"/view?url={world.url('/gull')}", "/dashboard", "/changes",
        "/changes?kind=content&days=7", f"/history?url={url}", f"/diff?url={url}&old={oldest}&new={newest}", "/due",
        "/stats", "/login", "/privacy", "/settings", "/nowhere",
    )  # fmt: skip


@pytest.fixture(params=["light", "dark"])
def inside(request: pytest.FixtureRequest, browser: Any, served: Serving, rooms: AppState) -> Iterator[Any]:
    """A browser that is logged in, on an app that has been used, in one of two colour schemes."""
    served.buckets.buckets.clear()
    rooms.auth_store.set_setting("password", rooms.auth_store.hasher.hash("correct horse"))
    session = rooms.auth_store.log_in("correct horse", rooms.clock())
    assert session is not None
    context = browser.new_context(base_url=served.root, color_scheme=request.param, bypass_csp=True)
    context.add_cookies([{"name": SESSION_COOKIE, "value": session.id, "url": served.root}])
    page = context.new_page()
    page.goto("/?q=shore+wader")
    page.goto("/?q=shore+birds+of+the+coast")  # typed again without opening anything: more is looked for
    yield page
    context.close()


WIDTHS = {"light": 1280, "dark": 390}  # colours do not depend on the width, nor the layout on the colours


def test_axe_finds_nothing_on_any_page_on_a_desk_or_a_phone(
    inside: Any, world: World, request: pytest.FixtureRequest
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    inside.set_viewport_size({"width": WIDTHS[request.node.callspec.params["inside"]], "height": 800})
    wrong = []
    for path in paths(world):
        inside.goto(path)
        assert inside.url.endswith(path.partition("?")[0]) or "?" in path, path  # not sent elsewhere
        found = axe.run(inside)["violations"]
        wrong += [(path, fault["id"], fault["impact"], fault["nodes"][0]["html"][:120]) for fault in found]
    assert wrong == []


def test_a_wrong_password_is_told_in_a_way_axe_likes(page: Any, served: Serving) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    served.buckets.buckets.clear()
    page.goto("/login")
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("alert").wait_for()
    assert [fault["id"] for fault in axe.run(page)["violations"]] == []


def test_pages_are_readable_named_and_fit(inside: Any, world: World) -> None:
    inside.set_viewport_size({"width": 390, "height": 800})
    for path in paths(world):
        inside.goto(path)
        assert inside.evaluate(CHECKS) == [], path


def test_no_table_reaches_beyond_a_phone(inside: Any, world: World) -> None:
    inside.set_viewport_size({"width": 390, "height": 800})
    for path in ("/dashboard", f"/history?url={world.url('/tern')}"):
        inside.goto(path)
        hidden = (
            "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth).map(s => s.ariaLabel)"
        )
        assert inside.evaluate(hidden) == [], path
