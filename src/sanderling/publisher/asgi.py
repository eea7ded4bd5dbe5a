"""Middleware for ASGI applications (Starlette, FastAPI, Django).

app = AsgiPublisher(app, PublishedSite("https://example.org", Path("/var/lib/site/publisher.db")))
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote

from sanderling.publisher.body_digest import BodyDigest, should_digest
from sanderling.publisher.discovery import ROBOTS_PATH, RobotsRewriter, build_link_header, build_tvi_response
from sanderling.publisher.paths import add_page_parameters, canonicalize_decoded_path, canonicalize_path
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.recorder import RequestRecorder, ServedRequest
from sanderling.publisher.responses import ListingRequest, ListingResponse, build_response, is_publisher_path
from sanderling.publisher.robots_rules import has_noindex
from sanderling.publisher.state_db import open_state_db
from sanderling.publisher.volatile_files import MAX_PAGE_LENGTH, TVI_SUFFIX, list_page_paths

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

RECORDED_HEADERS = frozenset((b"content-type", b"etag", b"last-modified"))


class AsgiPublisher:
    """Wrap an application: record its responses, and serve the lists."""

    def __init__(self, app: App, site: PublishedSite, recorder: RequestRecorder | None = None) -> None:
        self.app, self.site = app, site
        self.recorder = recorder or RequestRecorder(site)
        self.robots_rewriter = RobotsRewriter(self.recorder)
        self.link_header = (b"link", build_link_header(site).encode())
        self.is_started = False

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._handle_lifespan(scope, receive, send)
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        elif is_publisher_path(self.site, scope["path"]):
            await self._send_listing(scope, send)
        elif scope["path"] == ROBOTS_PATH:
            await _send_response(
                self.robots_rewriter.build_robots_response(*await self._call_app(scope)),
                send,
                scope["method"] == "HEAD",
            )
        elif self.site.serve_tvi_files and scope["path"].endswith(TVI_SUFFIX):
            await self._send_tvi_file(scope, receive, send)
        elif scope["method"] == "GET":
            await self._record_response(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _handle_lifespan(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        async def receive_message() -> Message:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await asyncio.to_thread(self.recorder.close)
            return message

        await self.app(scope, receive_message, send)

    async def _record_response(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if not self.is_started:
            self.is_started = True
            self.recorder.start()

        response_start: list[tuple[int, list[tuple[bytes, bytes]]]] = []
        body = BodyDigest()

        async def send_and_record(message: Message) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                if should_digest(message["status"], decode_headers(headers)):
                    body = BodyDigest(decode_headers(headers).get("content-encoding", ""))
                    response_start.append((message["status"], headers))
                else:
                    self._record_request(scope, message["status"], headers)
                message["headers"] = [*headers, self.link_header]
            elif response_start and message["type"] == "http.response.body":
                body.add(message.get("body", b""))
                if not message.get("more_body", False):
                    status, headers = response_start.pop()
                    self._record_request(scope, status, [*headers, (b"etag", body.compute_digest().encode())])
            await send(message)

        await self.app(scope, receive, send_and_record)

    def _record_request(
        self, scope: MutableMapping[str, Any], status: int, headers: Sequence[tuple[bytes, bytes]]
    ) -> None:
        raw_path = scope.get("raw_path")
        path = (
            canonicalize_path(raw_path.partition(b"?")[0].decode("latin-1"))
            if raw_path
            else canonicalize_decoded_path(scope["path"])
        )
        if path is None:
            return
        if self.site.page_parameters:
            path = add_page_parameters(
                path, scope.get("query_string", b"").decode("latin-1"), self.site.page_parameters
            )
        user_agent, is_anonymous = "", True
        for name, value in scope["headers"]:
            if name == b"user-agent":
                user_agent = value.decode("latin-1")
            elif name in (b"cookie", b"authorization"):
                is_anonymous = False
        recorded_headers = {
            name.lower(): value.decode("latin-1") for name, value in headers if name.lower() in RECORDED_HEADERS
        }
        client = scope.get("client")
        self.recorder.record(
            ServedRequest(
                path,
                status,
                user_agent,
                is_anonymous,
                recorded_headers.get(b"content-type", "").lower(),
                recorded_headers.get(b"etag", ""),
                recorded_headers.get(b"last-modified", ""),
                has_noindex(v.decode("latin-1") for n, v in headers if n.lower() == b"x-robots-tag"),
                client[0] if client else "",
            )
        )

    async def _send_listing(self, scope: MutableMapping[str, Any], send: Send) -> None:
        if self.robots_rewriter.is_refresh_due():
            _, _, body = await self._call_app(
                {**scope, "path": ROBOTS_PATH, "raw_path": ROBOTS_PATH.encode(), "method": "GET"}
            )
            await asyncio.to_thread(self.robots_rewriter.load_rules, body)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        request = ListingRequest(
            scope["path"], scope.get("query_string", b"").decode("latin-1"), scope["method"], headers
        )
        await _send_response(await asyncio.to_thread(self._build_listing, request), send, request.method == "HEAD")

    async def _send_tvi_file(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        for page in list_page_paths(scope["path"]):
            response = build_tvi_response(
                *await self._call_app({**scope, "path": page, "raw_path": quote(page).encode()})
            )
            if response:
                return await _send_response(response, send, scope["method"] == "HEAD")
        return await self.app(scope, receive, send)

    def _build_listing(self, request: ListingRequest) -> ListingResponse:
        self.recorder.flush()
        with closing(open_state_db(self.site.state_file)) as db:
            return build_response(self.site, db, request, self.recorder.get_time_ms())

    async def _call_app(self, scope: MutableMapping[str, Any]) -> tuple[int, list[tuple[str, str]], bytes]:
        status, headers, body = 500, list[tuple[str, str]](), bytearray()

        is_request_sent, is_finished = False, asyncio.Event()

        async def receive() -> Message:
            nonlocal is_request_sent
            if is_request_sent:  # Django waits for a disconnect meanwhile
                await is_finished.wait()
                return {"type": "http.disconnect"}
            is_request_sent = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in message.get("headers", ())]
            elif len(body) < MAX_PAGE_LENGTH:
                body.extend(message.get("body", b""))

        try:
            await self.app(scope, receive, send)
        finally:
            is_finished.set()
        return status, headers, bytes(body[:MAX_PAGE_LENGTH])


def decode_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Decode headers, with names in lower case."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


async def _send_response(response: ListingResponse, send: Send, is_head: bool) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if is_head else response.body})
