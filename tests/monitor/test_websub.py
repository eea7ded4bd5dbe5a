"""WebSub: hubs are found, asked, verified, and believed only with a signature."""

import hashlib
import hmac
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode

import pytest
from tests.monitor.conftest import WatchedSite
from tests.support.site import Page, free_port

from sanderling.cli import main
from sanderling.clock import system_clock
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.monitor.websub import HubAddress, Subscriber, verify_signature
from sanderling.monitor.websub_hubs import HubTopic, find_topic
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord

LOCAL = FetchSettings(allow_private=True)
TOPIC = "http://127.0.0.1:1/feed"


class Hub:
    """A hub: verifies the intent of subscribers after its answer, and delivers signed notifications."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, dict[str, str]] = {}  # by topic, verified
        self.failed: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                asked = {name.removeprefix("hub."): values[0] for name, values in form.items()}
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()
                threading.Thread(target=hub.verify, args=(asked,), daemon=True).start()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hub"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def verify(self, asked: dict[str, str]) -> None:
        query = {
            "hub.mode": asked["mode"],
            "hub.topic": asked["topic"],
            "hub.challenge": "c<h>4",
            "hub.lease_seconds": "900",
        }
        try:
            with urllib.request.urlopen(f"{asked['callback']}?{urlencode(query)}", timeout=30) as response:
                if response.read() == b"c<h>4":
                    self.subscriptions[asked["topic"]] = asked
        except urllib.error.HTTPError as error:
            error.close()
            self.failed.append(asked["topic"])

    def publish(self, topic: str, body: bytes = b"", secret: str = "", path: str = "") -> int:
        """Deliver a notification. Returns the status of the subscriber."""
        asked = self.subscriptions[topic]
        digest = hmac.new((secret or asked["secret"]).encode(), body, hashlib.sha256).hexdigest()
        request = urllib.request.Request(asked["callback"] + path, body, {"X-Hub-Signature": f"sha256={digest}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except urllib.error.URLError:  # closed while the body was sent
            return 0


@pytest.fixture
def hub() -> Iterator[Hub]:
    found = Hub()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    found = Subscriber(HubAddress("http://127.0.0.1:0/", port=0), LOCAL, system_clock)
    found.callback = f"http://127.0.0.1:{found.server.server_port}/hooks"
    found.start()
    yield found
    found.stop()


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 180
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def build_record(body: bytes, *links: str) -> StoredRecord:
    return StoredRecord("response", RecordLocation("", 0, 0), (), 200, tuple(("Link", link) for link in links), body)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            build_record(b"", '<https://hub.test/>; rel="hub", </feed>; rel=self'),
            HubTopic("https://a.test/feed", ("https://hub.test/",)),
        ),
        (
            build_record(b'<feed><atom:link rel="hub" href="https://hub.test/x"/><link rel=self href="/f.xml"/>'),
            HubTopic("https://a.test/f.xml", ("https://hub.test/x",)),
        ),
        (build_record(b"<html><head><link href='//h.test/' rel='alternate hub'>"), HubTopic("https://a.test/p", ("https://h.test/",))),
        (
            build_record(b'{"version": "1", "hubs": [{"type": "WebSub", "url": "https://h.test/"}]}'),
            HubTopic("https://a.test/p", ("https://h.test/",)),
        ),
        (build_record(b"", "<https://hub.test/>; rel=hub", "<https://b.test/feed>; rel=self"), None),
        (build_record(b"<p>no hub</p><link rel=stylesheet href=x>"), None),
        (build_record(b'{"hubs": 7}'), None),
    ],
)  # fmt: skip
def test_hubs_are_found(record: StoredRecord, expected: HubTopic | None) -> None:
    assert find_topic("https://a.test/p", record) == expected


def test_signatures() -> None:
    good = hmac.new(b"key", b"body", hashlib.sha512).hexdigest()
    assert verify_signature("key", f"sha512={good.upper()}", b"body")
    for header in ("", "sha512=", f"md5={good}", f"sha512={good[:-1]}0x", "sha256=\u00e4", good):
        assert not verify_signature("key", header, b"body")


def test_subscription_is_verified_and_signed_pages_are_announced(hub: Hub, subscriber: Subscriber) -> None:
    subscriber.add_topic(HubTopic(TOPIC, (hub.url,)))
    subscriber.add_topic(HubTopic(TOPIC, (hub.url,)))
    wait_for(lambda: hub.subscriptions)
    assert len(subscriber.subscriptions) == 1
    feed = b"<rss version='2.0'><channel>" + b"".join(
        b"<item><link>%s</link></item>" % link
        for link in (b"http://127.0.0.1:1/new", b"http://other.test/x", b"javascript:alert(1)")
    )
    assert hub.publish(TOPIC, feed + b"</channel></rss>", secret="wrong") == 202
    assert subscriber.take_announced() == []
    assert hub.publish(TOPIC, feed + b"</channel></rss>") == 202
    assert subscriber.take_announced() == [TOPIC, "http://127.0.0.1:1/new"]
    assert subscriber.take_announced() == []
    assert hub.publish(TOPIC, b"<not xml") == 202
    assert hub.publish(TOPIC, path="/unknown") == 410
    assert hub.publish(TOPIC, b"x" * 1_000_001) in (0, 413)
    (found,) = subscriber.subscriptions.values()
    assert found.is_verified
    assert found.next_request_at == pytest.approx(time.time() + 720, abs=120)


def test_requests_of_strangers_are_not_verified(hub: Hub, subscriber: Subscriber) -> None:
    subscriber.add_topic(HubTopic(TOPIC, (hub.url,)))
    wait_for(lambda: hub.subscriptions)
    asked = hub.subscriptions[TOPIC]
    for changed in ({"mode": "unsubscribe"}, {"topic": "http://other.test/"}, {"callback": subscriber.callback + "/x"}):
        hub.verify(asked | changed)
    assert len(hub.failed) == 3
    assert (
        subscriber.verify_intent(asked["callback"].rpartition("/")[2], {"hub.mode": ["denied"], "hub.topic": [TOPIC]})
        == ""
    )
    hub.verify(asked)
    assert len(hub.failed) == 4


def test_hub_at_a_private_address_is_not_asked(hub: Hub) -> None:
    subscriber = Subscriber(HubAddress("http://127.0.0.1:0/", port=0), FetchSettings(), system_clock)
    subscriber.start()
    subscriber.add_topic(HubTopic(TOPIC, (hub.url,)))
    wait_for(lambda: all(found.failures for found in subscriber.subscriptions.values()))
    subscriber.stop()
    assert hub.subscriptions == {}


def test_port_in_use_is_an_error(subscriber: Subscriber) -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        Subscriber(HubAddress("http://a/", port=subscriber.server.server_port), LOCAL, system_clock)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--websub-listen", "127.0.0.1:1"],
        ["--websub", "me.example"],
        ["--websub", "https://me.example/?x"],
        ["--websub", "https://me.example", "--once"],
        ["--websub", "https://me.example", "--websub-listen", "8440x"],
    ],
)
def test_invalid_addresses_are_refused(watched: WatchedSite, arguments: list[str]) -> None:
    assert watched("https://a.test/") == 0
    assert watched(*arguments) == 4


def test_announced_page_is_checked_before_its_time(watched: WatchedSite, hub: Hub) -> None:
    port = free_port()
    url = f"{watched.site.root}/lamp"
    watched.site.pages["/lamp"] = Page(
        b"<p>A lamp made of brass: 129 EUR", headers={"Content-Type": "text/html", "Link": f'<{hub.url}>; rel="hub"'}
    )
    assert watched(url, "--every", "30d") == 0
    listen = ["--websub", f"http://127.0.0.1:{port}/hooks", "--websub-listen", f"127.0.0.1:{port}"]
    flags = ["--allow-private", "--delay", "0", "--workers", "1", "--quiet", *listen]
    command = [sys.executable, "-m", "sanderling", "watch", *flags, "-C", str(watched.folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: url in hub.subscriptions)
        wait_for(lambda: watched.site.hits["/lamp"] >= 2)  # the first version is fetched twice
        watched.site.pages["/lamp"] = Page(b"<p>A lamp made of brass: 119 EUR")
        assert hub.publish(url, b"changed") == 202
        wait_for(lambda: watched.site.hits["/lamp"] > 3)  # so is a changed one
    finally:
        process.terminate()
        output, _ = process.communicate(timeout=60)
    assert "119" in output
    assert main(["verify", "-C", str(watched.folder)]) == 0
