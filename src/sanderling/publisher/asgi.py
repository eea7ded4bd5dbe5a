"""Middleware for ASGI applications (Starlette, FastAPI, Django ...).

app = AsgiPublisher(app, Site("https://example.org", Path("/var/lib/site/publisher.db")))
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote

from sanderling.publisher.body_digest import BodyDigest, needs_digest
from sanderling.publisher.discovery import ROBOTS, Robots, link_header, side_answer
from sanderling.publisher.paths import canonical, encoded, with_query
from sanderling.publisher.published_site import Site
from sanderling.publisher.recorder import Desk, Visit
from sanderling.publisher.responses import Answer, Ask, answer, ours
from sanderling.publisher.robots import forbids_index
from sanderling.publisher.state_db import connect
from sanderling.publisher.volatile_files import ENDING, LARGEST, page_paths

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

OF_VISIT = frozenset((b"content-type", b"etag", b"last-modified"))


class AsgiPublisher:
    """Wraps an application: notes visits, and answers for the lists itself."""

    def __init__(self, app: App, site: Site, desk: Desk | None = None) -> None:
        self.app, self.site = app, site
        self.desk = desk or Desk(site)
        self.robots = Robots(self.desk)
        self.link = (b"link", link_header(site).encode())
        self.started = False

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        elif ours(self.site, scope["path"]):
            await self._answer(scope, send)
        elif scope["path"] == ROBOTS:
            await _send(self.robots.amend(*await self._ask_app(scope)), send, scope["method"] == "HEAD")
        elif self.site.volatile and scope["path"].endswith(ENDING):
            await self._side_file(scope, receive, send)
        elif scope["method"] == "GET":
            await self._watch(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _live(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        async def note_end() -> Message:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await asyncio.to_thread(self.desk.close)
            return message

        await self.app(scope, note_end, send)

    async def _watch(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if not self.started:
            self.started = True
            self.desk.start()

        started: list[tuple[int, list[tuple[bytes, bytes]]]] = []
        body = BodyDigest()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                if needs_digest(message["status"], texts(headers)):
                    started.append((message["status"], headers))
                else:
                    self._note(scope, message["status"], headers)
                message["headers"] = [*headers, self.link]
            elif started and message["type"] == "http.response.body":
                body.add(message.get("body", b""))
                if not message.get("more_body", False):
                    status, headers = started.pop()
                    self._note(scope, status, [*headers, (b"etag", body.mark().encode())])
            await send(message)

        await self.app(scope, receive, note)

    def _note(self, scope: MutableMapping[str, Any], status: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        raw = scope.get("raw_path")
        path = canonical(raw.partition(b"?")[0].decode("latin-1")) if raw else encoded(scope["path"])
        if path is None:
            return
        if self.site.kept_parameters:
            path = with_query(path, scope.get("query_string", b"").decode("latin-1"), self.site.kept_parameters)
        agent, anonymous = "", True
        for name, value in scope["headers"]:
            if name == b"user-agent":
                agent = value.decode("latin-1")
            elif name in (b"cookie", b"authorization"):
                anonymous = False
        sent = {name.lower(): value.decode("latin-1") for name, value in headers if name.lower() in OF_VISIT}
        client = scope.get("client")
        self.desk.see(
            Visit(
                path,
                status,
                agent,
                anonymous,
                sent.get(b"content-type", "").lower(),
                sent.get(b"etag", ""),
                sent.get(b"last-modified", ""),
                forbids_index(v.decode("latin-1") for n, v in headers if n.lower() == b"x-robots-tag"),
                client[0] if client else "",
            )
        )

    async def _answer(self, scope: MutableMapping[str, Any], send: Send) -> None:
        if self.robots.is_due():
            _, _, body = await self._ask_app({**scope, "path": ROBOTS, "raw_path": ROBOTS.encode(), "method": "GET"})
            await asyncio.to_thread(self.robots.learn, body)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        ask = Ask(scope["path"], scope.get("query_string", b"").decode("latin-1"), scope["method"], headers)
        await _send(await asyncio.to_thread(self._look_up, ask), send, ask.method == "HEAD")

    async def _side_file(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        for page in page_paths(scope["path"]):
            found = side_answer(*await self._ask_app({**scope, "path": page, "raw_path": quote(page).encode()}))
            if found:
                return await _send(found, send, scope["method"] == "HEAD")
        return await self.app(scope, receive, send)

    def _look_up(self, ask: Ask) -> Answer:
        self.desk.flush()
        with closing(connect(self.site.state)) as db:
            return answer(self.site, db, ask, self.desk.now())

    async def _ask_app(self, scope: MutableMapping[str, Any]) -> tuple[int, list[tuple[str, str]], bytes]:
        """Ask the application itself, and keep what it says."""
        status, headers, body = 500, list[tuple[str, str]](), bytearray()

        asked, over = False, asyncio.Event()

        async def nothing() -> Message:
            nonlocal asked
            if asked:  # applications such as Django listen for the end of the connection meanwhile
                await over.wait()
                return {"type": "http.disconnect"}
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async def keep(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in message.get("headers", ())]
            elif len(body) < LARGEST:
                body.extend(message.get("body", b""))

        try:
            await self.app(scope, nothing, keep)
        finally:
            over.set()
        return status, headers, bytes(body[:LARGEST])


def texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers as text, names in lower case."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


async def _send(reply: Answer, send: Send, head: bool) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
    headers.append((b"content-length", str(len(reply.body)).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else reply.body})
