"""Server-sent events: progress of a crawl, and changes that a client which reconnects does not miss."""

import json
import threading
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from starlette.testclient import TestClient
from tests.support.site import Site, html
from tests.web.conftest import CrawledSite, ServerThread, crawl_site
from tests.web.rest.conftest import API, create_secret
from tests.web.rest.test_crawl_operations import wait_for

from sanderling.web.rest.event_streams import format_event
from sanderling.web.server import ServerAddress, open_app_state


def read_events(address: str, headers: dict[str, str], count: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Read events as (id, name, data) until there are enough, or the stream ends."""
    events: list[tuple[str, str, dict[str, Any]]] = []
    fields: dict[str, str] = {}
    deadline = time.monotonic() + 60
    with urlopen(Request(address, headers=headers), timeout=60) as stream:
        while len(events) < count and time.monotonic() < deadline and (line := stream.readline()):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif "data" in fields:
                events.append((fields.get("id", ""), fields["event"], json.loads(fields["data"])))
                fields = {}
    return events


def test_event_is_a_line_of_json() -> None:
    assert format_event("change", {"a": "b\nc"}, 7) == b'id: 7\nevent: change\ndata: {"a":"b\\nc"}\n\n'
    assert format_event("end", {}) == b"event: end\ndata: {}\n\n"


def test_changes_continue_after_the_last_event(crawled_site: CrawledSite, server_thread: ServerThread) -> None:
    address = f"{server_thread.root}{API}/changes/events"
    ((id_, name, data),) = read_events(f"{address}?after=0", {}, 1)
    assert (name, data["url"], data["kinds"]) == ("change", crawled_site.url("/tern"), ["content"])
    again = read_events(f"{address}?after=-1", {"Last-Event-ID": str(int(id_) - 1)}, 1)
    assert again == [(id_, name, data)], "a reconnect continues behind the event named by the header"


def test_changes_are_sent_when_they_are_stored(tmp_path: Path) -> None:
    with Site({"/": html(text="The tide table of November")}) as site:
        crawl_site(site, tmp_path)
        server = ServerThread(open_app_state(tmp_path, ServerAddress()))
        server.start()
        received: list[Any] = []
        address = f"{server.root}{API}/changes/events"
        reader = threading.Thread(target=lambda: received.extend(read_events(address, {}, 2)))
        reader.start()
        while not server.app.state.streams.open_count:
            threading.Event().wait(0.05)
        site.pages["/"] = html("/new", text="The tide table of December, with all harbors")
        site.pages["/new"] = html("/", text="Harbors")
        crawl_site(site, tmp_path)  # the new seed
        crawl_site(site, tmp_path)  # all pages again
        reader.join(70)
        server.stop()
        server.app_state.close()
    found = {data["url"].removeprefix(site.root): data["kinds"] for _, _, data in received}
    assert found["/new"] == ["new"]
    assert "content" in found["/"]


def test_progress_ends_with_the_result(new_api: TestClient, site: Site) -> None:
    body = {"urls": [site.root + "/"], "settings": {"delay": "20ms", "sitemaps": False}}
    id_ = new_api.post("crawls", json=body).json()["id"]
    text = new_api.get(f"crawls/{id_}/events").text
    names = [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")]
    assert names[-1] == "end"
    assert set(names[:-1]) <= {"progress"}
    end = json.loads(text.rpartition("data: ")[2])
    assert end == wait_for(new_api, id_)


def test_stream_needs_a_token_on_a_public_server(new_api: TestClient, tmp_path: Path) -> None:
    server = ServerThread(open_app_state(tmp_path / "c", ServerAddress()))
    server.app_state.is_public = True
    server.start()
    address = f"{server.root}{API}/changes/events"
    secret = create_secret(tmp_path / "c")
    with urlopen(Request(address, headers={"Authorization": f"Bearer {secret}"}), timeout=30) as stream:
        assert stream.readline() == b": connected\n"
    assert new_api.get("crawls/5/events").status_code == 404
    server.stop()
    server.app_state.close()
