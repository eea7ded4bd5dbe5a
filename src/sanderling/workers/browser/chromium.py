"""Browser process: runs Chromium without a network, and renders the documents that a worker sends.

chromium.py FD: commands in and messages out over a socket; ends with it.
"""

import asyncio
import ctypes
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from sanderling.workers.browser.process_memory import kill_large_tabs
from sanderling.workers.browser.tab import Tab
from sanderling.workers.browser.tab_protocol import (
    BrowserCommand,
    BrowserConfig,
    BrowserMessage,
    BrowserStarted,
    RenderCommand,
    RenderedPage,
)
from sanderling.workers.worker_protocol import LENGTH_PREFIX, encode_frame

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
MEMORY_CHECK_SECONDS = 0.25
HEAP_MEGABYTES = 512  # of a page's script
MISSING_PROXY = "http://127.0.0.1:9"  # the discard port: what is not intercepted ends there
RUN_UNPRIVILEGED = Path(__file__).with_name("run_unprivileged.sh")
NO_SANDBOX = "its sandbox cannot be used here; --render auto runs it without one"
CHROMIUM_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-notifications",
    "--dns-prefetch-disable",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    f"--proxy-server={MISSING_PROXY}",
    "--proxy-bypass-list=<-loopback>",  # loopback goes to the missing proxy, too
    "--disable-features=Prerender2,SpeculationRulesPrefetchProxy,InterestFeedContentSuggestions,Translate,"
    "MediaRouter,OptimizationHints,AutofillServerCommunication",
    f"--js-flags=--max-old-space-size={HEAP_MEGABYTES}",
)


def leave_network() -> bool:
    """Move this process into a network namespace without interfaces. False: the system does not permit it."""
    libc, user, group = ctypes.CDLL(None, use_errno=True), os.getuid(), os.getgid()
    if not user:
        return bool(libc.unshare(CLONE_NEWNET) == 0)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        return False
    with suppress(OSError):  # keep our own ids: Chromium refuses to run as another user's root
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


class BrowserProcess:
    """Chromium, the tabs of its pages, and the socket to the worker."""

    def __init__(self, config: BrowserConfig, writer: asyncio.StreamWriter) -> None:
        self.config = config
        self._writer = writer
        self._tabs: dict[int, Tab] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._browser: Any = None

    def send(self, message: BrowserMessage) -> None:
        self._writer.write(encode_frame(message))

    async def start(self, playwright: Any) -> None:
        """Start Chromium with its sandbox, or without it if it does not start and the user asked for rendering."""
        has_network, errors = not leave_network(), []
        for has_sandbox in (True, False) if self.config.allows_unsandboxed else (True,):
            try:
                self._browser = await self._launch(playwright, has_sandbox)
            except Exception as error:  # noqa: BLE001 - any failure of the driver
                errors.append(str(error))
            else:
                self._browser.on("disconnected", lambda _: os._exit(1))  # the worker starts another, for all pages
                self.send(BrowserStarted(has_sandbox, has_network))
                return
        hint = "" if self.config.allows_unsandboxed or "sandbox" not in errors[0] else NO_SANDBOX
        self.send(BrowserStarted(False, has_network, hint or " ".join(errors[-1].split())[:300]))
        await self._writer.drain()
        raise SystemExit(1)

    async def _launch(self, playwright: Any, has_sandbox: bool) -> Any:
        """Launch Chromium; as root, as an unprivileged user."""
        is_root = not os.getuid()
        return await playwright.chromium.launch(
            executable_path=str(RUN_UNPRIVILEGED) if is_root else self.config.chromium_path,
            env={**os.environ, "CHROMIUM_PATH": self.config.chromium_path},
            chromium_sandbox=has_sandbox,
            args=list(CHROMIUM_ARGUMENTS),
            handle_sigint=False,
        )

    def handle(self, command: BrowserCommand) -> None:
        if isinstance(command, RenderCommand):
            self._tabs[command.page_id] = tab = Tab(self._browser, self.config, command, self.send)
            task = asyncio.create_task(self._render(tab))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif command.page_id in self._tabs:
            self._tabs[command.page_id].answer(command)

    async def _render(self, tab: Tab) -> None:
        page_id = tab.command.page_id
        try:
            result = await tab.render()
        except Exception as error:  # noqa: BLE001 - the page, the driver, or Chromium failed: the page is given up
            result = RenderedPage(page_id, "render_crashed", " ".join(str(error).split())[:200])
        if tab.was_killed:
            result = RenderedPage(page_id, "render_memory", "the page used too much memory", refused=result.refused)
        del self._tabs[page_id]
        self.send(replace(result, page_id=page_id))

    async def watch_memory(self) -> None:
        """Kill page processes that use too much memory."""
        while True:
            await asyncio.sleep(MEMORY_CHECK_SECONDS)
            if self._tabs and kill_large_tabs(os.getpid(), self.config.tab_bytes):
                for tab in self._tabs.values():
                    tab.note_kill()


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    (length,) = LENGTH_PREFIX.unpack(await reader.readexactly(LENGTH_PREFIX.size))
    return await reader.readexactly(length)


async def run_browser(sock: socket.socket) -> None:
    """Serve commands until the worker closes the socket."""
    from playwright.async_api import async_playwright  # of the extra `browser`

    # Requests of pages that were closed end with errors of the driver, without consequences.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    reader, writer = await asyncio.open_unix_connection(sock=sock)
    config = msgspec.msgpack.decode(await read_frame(reader), type=BrowserConfig)
    decode = msgspec.msgpack.Decoder(BrowserCommand).decode
    async with async_playwright() as playwright:
        process = BrowserProcess(config, writer)
        await process.start(playwright)
        watcher = asyncio.create_task(process.watch_memory())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                process.handle(decode(await read_frame(reader)))
        watcher.cancel()
        os._exit(0)  # the driver ends Chromium when its pipe closes


if __name__ == "__main__":
    asyncio.run(run_browser(socket.socket(fileno=int(sys.argv[1]))))
