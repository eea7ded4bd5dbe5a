"""One page in the browser: intercepts its requests, waits until it is still, and reads its DOM."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.resources import files
from typing import Any

from msgspec.structs import replace

from sanderling.workers.browser.page_screenshot import compare_pictures, find_blocks, take_screenshot
from sanderling.workers.browser.tab_protocol import (
    BrowserConfig,
    BrowserMessage,
    RenderCommand,
    RenderedPage,
    Subrequest,
    SubresponseCommand,
)

PAGE_SCRIPT = files(__package__).joinpath("page_script.js").read_text()
PAGE_TOOLS = files(__package__).joinpath("page_tools.js").read_text()
LOAD_MORE = "|".join(files(__package__).joinpath("load_more.txt").read_text().split("\n")[:-1])  # texts of buttons
FETCHED_KINDS = frozenset(("script", "stylesheet", "xhr", "fetch", "other"))
PICTURE_KINDS = frozenset(("image", "font"))
ASSET_KINDS = PICTURE_KINDS | {"media", "texttrack", "manifest", "script", "stylesheet"}  # no message to a server
POLL_SECONDS, QUIET_SECONDS = 0.1, 0.5  # quiet: without a change of text and links, and without a pending request
LOAD_SECONDS = 10.0  # until the load event: before it, scripts may not have run; some pages have none
CALL_SECONDS, CLOSE_SECONDS, MAX_DIALOGS, MAX_ASSETS = 5.0, 5.0, 20, 300  # of a call into the page; of closing it
VIEWPORT = {"width": 1280, "height": 960}


class PageStuck(Exception):
    """A script of the page does not return."""


class Tab:
    """Renders one document in a context of its own."""

    def __init__(
        self, browser: Any, config: BrowserConfig, command: RenderCommand, send: Callable[[BrowserMessage], None]
    ) -> None:
        self.command, self._browser, self._config, self._send = command, browser, config, send
        self._started = time.monotonic()
        self._waited = 0.0  # seconds in which requests were pending
        self._pending: dict[int, asyncio.Future[SubresponseCommand]] = {}
        self._request_count = 0
        self._refused, self._unfetched = Counter[str](), dict[str, None]()  # by kind; files that it is shown without
        self._notes: dict[str, None] = {}
        self._dialogs = 0
        self._redirect_url = ""
        self._has_document = False
        self._crashed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._killed_at = 0.0
        self.was_killed = False
        self._page: Any = None

    def answer(self, command: SubresponseCommand) -> None:
        """Pass a response to the page."""
        future = self._pending.pop(command.request_id, None)
        if future is not None and not future.done():
            future.set_result(command)

    def note_kill(self) -> None:
        """Remember that a page process was killed: a crash that follows is no accident."""
        self._killed_at = time.monotonic()

    async def render(self) -> RenderedPage:
        """Render the document; always returns within the time limits."""
        context = await self._browser.new_context(
            user_agent=self._config.user_agent,
            viewport=VIEWPORT,
            locale="en-US",
            timezone_id="UTC",
            accept_downloads=False,
            service_workers="block",
            reduced_motion="reduce",
            permissions=[],
        )
        try:
            await self._open_page(context)
            return await self._run_page()
        finally:
            for future in self._pending.values():
                future.cancel()
            with suppress(Exception):  # a stuck page; the worker restarts the browser if it does not go away
                await asyncio.wait_for(context.close(), CLOSE_SECONDS)

    async def _open_page(self, context: Any) -> None:
        await context.add_init_script(PAGE_SCRIPT)
        await context.route("**/*", self._handle_request)
        await context.route_web_socket("**/*", self._refuse_web_socket)
        self._page = page = await context.new_page()
        context.on("page", self._close_popup)
        page.on("crash", self._handle_crash)
        page.on("dialog", self._dismiss_dialog)

    async def _run_page(self) -> RenderedPage:
        work = asyncio.create_task(self._render_document())
        awaited: set[asyncio.Future[Any]] = {work, self._crashed}
        done, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if work not in done:
            work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await work
            self.was_killed = self._killed_at > 0
            return self._build_result("render_crashed", "the browser's process of the page ended")
        try:
            return work.result()
        except PageStuck as stuck:
            self.was_killed = self._killed_at > 0
            return self._build_result("render_timeout", str(stuck))

    async def _render_document(self) -> RenderedPage:
        with suppress(Exception):  # a script that blocks the load event, or navigates away: what there is counts
            await self._page.goto(self.command.url, wait_until="commit", timeout=CALL_SECONDS * 1000)
        if not self._redirect_url:
            await self._settle(QUIET_SECONDS)
        if not self._redirect_url:
            await self._scroll()
            await self._click_more()
        if self._redirect_url:
            return self._build_result(redirect_url=self._redirect_url)
        return await self._read_document()

    async def _read_document(self) -> RenderedPage:
        document = await self._call("serialize()")
        html: str = document["html"]
        if document["base"] != self.command.url and not document["hasBase"]:
            html = _insert_base(html, document["base"])
        encoded = html.encode("utf-8", "replace")
        if len(encoded) > self._config.max_html:
            return self._build_result("too_large", f"more than {self._config.max_html} bytes after rendering")
        result = self._build_result(html=encoded)
        if not self._config.screenshots:
            return result
        size = VIEWPORT["width"], int(document["height"])
        picture = await take_screenshot(self._page, *size, self._guard)
        blocks = await find_blocks(self._page, *size, self._guard) if picture else b""
        previous = self.command.previous_picture, self.command.previous_blocks
        visual = await compare_pictures(self._browser, previous, (picture, blocks))
        return replace(result, screenshot=picture, picture_blocks=blocks, visual=visual)

    def _build_result(
        self, problem: str = "", detail: str = "", html: bytes = b"", redirect_url: str = ""
    ) -> RenderedPage:
        self._notes |= {"many dialogs": None} if self._dialogs > MAX_DIALOGS else {}
        result = RenderedPage(self.command.page_id, problem, detail, html, redirect_url, refused=dict(self._refused))
        seconds, notes, unfetched = time.monotonic() - self._started, tuple(self._notes), tuple(self._unfetched)
        return replace(result, seconds=seconds, notes=notes, unfetched=unfetched)

    async def _guard(self, call: Awaitable[Any]) -> Any:
        """Await a call into the page. Raises PageStuck if it does not return."""
        try:
            return await asyncio.wait_for(call, CALL_SECONDS)
        except TimeoutError:
            dialogs = f"; it opened {self._dialogs} dialogs" if self._dialogs > 1 else ""
            raise PageStuck(f"a script of the page did not return within {CALL_SECONDS:g} s{dialogs}") from None

    async def _call(self, expression: str, argument: object = None) -> Any:
        return await self._guard(self._page.evaluate(f"argument => ({PAGE_TOOLS}).{expression}", argument))

    async def _measure(self) -> tuple[int, ...]:
        for _ in range(3):
            try:
                return tuple(await self._call("measure()"))
            except PageStuck:
                raise
            except Exception:  # noqa: BLE001 - the document was replaced during the call
                await asyncio.sleep(POLL_SECONDS)
        return ()

    async def _settle(self, quiet_seconds: float) -> tuple[int, ...]:
        """Wait until text and links are still and no request is pending; return the last measurement."""
        measured: tuple[int, ...] = ()
        quiet_since, quiet_turns = time.monotonic(), 0  # turns count, too: on a busy machine, scripts run late
        while not self._redirect_url:
            turn = time.monotonic()
            current, quiet_turns = await self._measure(), quiet_turns + 1
            is_loading = current[:1] == (0,) and turn - self._started - self._waited < LOAD_SECONDS
            if current != measured or self._pending or is_loading:
                measured, quiet_since, quiet_turns = current, time.monotonic(), 0
            elif time.monotonic() - quiet_since >= quiet_seconds and quiet_turns * POLL_SECONDS >= quiet_seconds:
                break
            if self._is_time_over():
                self._notes["never still"] = None
                break
            await asyncio.sleep(POLL_SECONDS)
            if self._pending:
                self._waited += time.monotonic() - turn
        return measured

    def _is_time_over(self) -> bool:
        total = time.monotonic() - self._started
        return total > self._config.total_seconds or total - self._waited > self._config.page_seconds

    async def _scroll(self) -> None:
        """Scroll to the end while something new comes."""
        before = await self._measure()
        for _ in range(self._config.max_rounds):
            if self._is_time_over() or not await self._call("scroll()"):
                return
            after = await self._settle(QUIET_SECONDS / 2)
            if after == before:
                return
            before = after
        self._notes["scrolled to the limit"] = None

    async def _click_more(self) -> None:
        """Click "load more" while something new comes."""
        before = await self._measure()
        for _ in range(self._config.max_rounds):
            if self._is_time_over() or not await self._call("clickMore(argument)", LOAD_MORE):
                return
            after = await self._settle(QUIET_SECONDS)
            if after == before:
                return
            before = after
        self._notes["clicked to the limit"] = None

    async def _handle_request(self, route: Any) -> None:
        """Answer with the document, or with what the worker fetched; refuse what a page does not need."""
        request, kind = route.request, route.request.resource_type
        with suppress(Exception):  # the page was closed meanwhile
            if kind == "document":
                await self._handle_navigation(route)
                return
            headers = await request.all_headers()
            self._request_count += 1
            if self._request_count > self._config.max_requests:
                self._notes["too many requests"] = None
            allowed = FETCHED_KINDS | PICTURE_KINDS if self._config.screenshots else FETCHED_KINDS
            is_wanted = kind in allowed and "sec-purpose" not in headers and request.url.startswith("http")
            if not is_wanted or self._request_count > self._config.max_requests:
                self._refused["prefetch" if "sec-purpose" in headers else kind] += 1
                is_asset = kind in ASSET_KINDS and len(self._unfetched) < MAX_ASSETS
                self._unfetched |= {request.url: None} if is_asset else {}
                await route.abort("blockedbyclient")
                return
            response = await self._forward(request, headers, kind)
            if response.is_refused:
                await route.abort("blockedbyclient")
            else:
                fields = dict(response.headers)
                await route.fulfill(status=response.status, headers=fields, body=response.body)

    async def _forward(self, request: Any, headers: dict[str, str], kind: str) -> SubresponseCommand:
        request_id = self._request_count
        future: asyncio.Future[SubresponseCommand] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = future
        body = request.post_data_buffer or b""
        page_id = self.command.page_id
        self._send(Subrequest(page_id, request_id, request.url, request.method, kind, headers, body))
        return await future

    async def _handle_navigation(self, route: Any) -> None:
        request = route.request
        if request.frame != self._page.main_frame:
            self._refused["frame"] += 1
            await route.abort("blockedbyclient")
        elif not self._has_document:
            self._has_document = True
            fields = dict(self.command.headers)
            await route.fulfill(status=self.command.status, headers=fields, body=self.command.body)
        else:
            is_elsewhere = request.url.partition("#")[0] != self.command.url.partition("#")[0]
            if is_elsewhere and request.method == "GET" and request.url.startswith("http"):
                self._redirect_url = self._redirect_url or request.url
            self._refused["navigation"] += 1
            await route.abort("aborted")

    async def _refuse_web_socket(self, socket: Any) -> None:
        self._refused["websocket"] += 1
        with suppress(Exception):
            await socket.close()

    async def _close_popup(self, page: Any) -> None:
        if page != self._page:
            self._refused["window"] += 1
            with suppress(Exception):
                await page.close()

    async def _dismiss_dialog(self, dialog: Any) -> None:
        self._dialogs += 1
        with suppress(Exception):
            await dialog.dismiss()

    def _handle_crash(self, _page: Any) -> None:
        if not self._crashed.done():
            self._crashed.set_result(None)


def _insert_base(html: str, base: str) -> str:
    """Let relative links refer to the address that the page's script has set."""
    start = html.find("<head")
    end = html.find(">", start) + 1
    escaped = base.replace("&", "&amp;").replace('"', "&quot;")
    return f'{html[:end]}<base href="{escaped}">{html[end:]}' if start >= 0 and end else html
