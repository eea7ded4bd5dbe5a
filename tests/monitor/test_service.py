"""Watches as a user sees them: a site on loopback, the command, and a webhook server."""

import base64
import hashlib
import hmac
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from msgspec.structs import replace
from tests.monitor.conftest import WatchedSite, WebhookServer
from tests.support.site import Page, Site, html

from sanderling.cli import main
from sanderling.crawl.monitor_thread import run_monitor_once
from sanderling.monitor.outbox import Outbox
from sanderling.monitor.watch_store import WatchStore

LAMP = "<title>Lamp</title><h1>Lamp</h1><p>A lamp for your desk, made of brass.</p><p id=price>{} EUR</p>"


def lamp(price: object) -> Page:
    return Page(LAMP.format(price).encode())


def test_change_is_printed_and_sent_once(
    watched: WatchedSite, webhook: WebhookServer, capsys: pytest.CaptureFixture[str]
) -> None:
    watched.site.pages["/lamp"] = lamp(129)
    url = f"{watched.site.root}/lamp"
    assert watched(url, "--every", "10ms", "--selector", "#price", "--notify", webhook.url) == 0
    watched.check()
    watched.site.pages["/lamp"] = lamp(119)
    capsys.readouterr()
    watched.check()
    assert "~ [-129-]{+119+} EUR" in capsys.readouterr().out
    watched.check()
    ((headers, body),) = webhook.requests
    (change,) = json.loads(body)["changes"]
    assert (change["url"], change["kinds"]) == (url, ["content"])
    store = WatchStore(watched.folder)
    key = base64.b64decode(store.get_webhook_key().removeprefix("whsec_"))
    store.close()
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["idempotency-key"] == headers["webhook-id"]


def test_nothing_is_sent_for_errors_outages_and_logins(watched: WatchedSite, webhook: WebhookServer) -> None:
    good = Page(LAMP.format(129).encode() + b"<p>Delivered within a week, with a bulb and a shade of your choice.</p>")
    watched.site.pages["/lamp"] = good
    assert watched(f"{watched.site.root}/lamp", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    for bad in (
        Page(b"<h1>Internal Server Error</h1>", 500),
        Page(b"<title>Maintenance</title><p>We are down for maintenance. We will be back soon.</p>"),
        Page(b"<title>Log in</title><form><p>Please log in</p><input type=password name=p></form>"),
        good,
    ):
        watched.site.pages["/lamp"] = bad
        for _ in range(2):
            watched.check()
    assert webhook.requests == []
    watched.site.pages["/lamp"] = Page(good.body.replace(b"129", b"119"))
    watched.check()
    assert len(webhook.requests) == 1


def test_single_check_does_not_wait_for_a_host_that_backs_off(watched: WatchedSite, webhook: WebhookServer) -> None:
    watched.site.pages["/lamp"] = lamp(129)
    assert watched(f"{watched.site.root}/lamp", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    watched.site.pages["/lamp"] = Page(b"busy", 503, {"Retry-After": "500"})
    command = ["watch", "--once", "--allow-private", "--delay", "0", "-C", str(watched.folder)]
    assert main(command) == 18  # the page stays due
    watched.site.pages["/lamp"] = lamp(119)
    assert main(command) == 18  # Retry-After is kept
    assert webhook.requests == []


def test_condition_is_reported_when_it_holds(watched: WatchedSite, webhook: WebhookServer) -> None:
    watched.site.pages["/lamp"] = lamp(129)
    flags = ["--condition", "below 100", "--notify", webhook.url]
    assert watched(f"{watched.site.root}/lamp", "--every", "10ms", *flags) == 0
    for price in (129, 119, 109, 99, 105, 95):
        watched.site.pages["/lamp"] = lamp(price)
        watched.check()
    assert webhook.texts == ["99 EUR", "95 EUR"]
    store = WatchStore(watched.folder)
    assert [value for _, _, value, _ in store.load_values(1)] == [129, 119, 109, 99, 105, 95]
    store.close()


def test_change_on_all_pages_is_one_event(watched: WatchedSite, webhook: WebhookServer) -> None:
    names = [f"/p{number}" for number in range(6)]
    text = "Number {} stands on the shore and waits for the tide, as every day of the year."

    def publish(banner: str) -> None:
        watched.site.pages["/"] = Page(
            (f"<p>{banner}</p>" + "".join(f"<p><a href={name}>{name}</a></p>" for name in names)).encode()
        )
        for name in names:
            watched.site.pages[name] = Page(f"<p>{banner}</p><h1>{name}</h1><p>{text.format(name)}</p>".encode())

    publish("Welcome")
    assert watched(f"{watched.site.root}/", "--site", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    publish("Autumn sale!")
    watched.check()
    (message,) = webhook.messages
    assert [len(change.get("urls", [])) for change in message["changes"]] == [7]
    assert "Autumn sale!" in message["message"]


def publish_notice(site: Site, notice: str, count: int) -> list[str]:
    """Publish pages with a notice outside the main content, and return their addresses."""
    names = [f"/p{number}" for number in range(count)]
    for name in names:
        text = f"<p>Number {name} stands on the shore and waits for the tide, as every day of the year.</p>"
        site.pages[name] = Page(
            f"<body>{notice}<nav><a href=/>Home</a></nav><main><h1>{name}</h1>{text}</main>"
            f"<footer><p>Written by the sea</p></footer></body>".encode()
        )
    return [f"{site.root}{name}" for name in names]


@pytest.mark.parametrize(
    "notice", ["<div class=banner><p>Autumn sale!</p></div>", "<header><p>Autumn sale!</p></header>"]
)
def test_notice_outside_the_main_content_is_one_event(
    watched: WatchedSite, webhook: WebhookServer, notice: str
) -> None:
    urls = publish_notice(watched.site, notice.replace("Autumn sale!", "Welcome to us") * ("header" in notice), 4)
    assert watched(*urls, "--name", "site", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    publish_notice(watched.site, notice, 4)
    watched.check()
    (message,) = webhook.messages
    assert [sorted(change["urls"]) for change in message["changes"]] == [urls]
    assert "Autumn sale!" in webhook.texts[0]


def test_notice_of_a_single_page_is_reported_at_once(watched: WatchedSite, webhook: WebhookServer) -> None:
    urls = publish_notice(watched.site, "", 1)
    assert watched(*urls, "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    publish_notice(watched.site, "<div class=banner><p>Closed until Monday</p></div>", 1)
    watched.check()
    assert webhook.texts == ["Closed until Monday"]


def test_notice_is_reported_if_the_service_restarts_before_other_pages_show_it(
    watched: WatchedSite, webhook: WebhookServer
) -> None:
    notice = "<div class=banner><p>Autumn sale!</p></div>"
    urls = publish_notice(watched.site, "", 4)
    assert watched(*urls, "--name", "site", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    publish_notice(watched.site, notice, 2)
    watched.check()
    assert webhook.messages == []
    publish_notice(watched.site, notice, 4)
    watched.check()
    (message,) = webhook.messages
    assert [sorted(change["urls"]) for change in message["changes"]] == [urls]


def test_gone_and_new_pages_of_a_site_are_reported(watched: WatchedSite, webhook: WebhookServer) -> None:
    watched.site.pages |= {"/": html("/a", "/b", text="the root"), "/a": html(text="page a"), "/b": html(text="page b")}
    assert watched(f"{watched.site.root}/", "--site", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    watched.check()
    watched.site.pages["/"] = html("/a", "/b", "/c", text="the root")
    watched.site.pages["/c"] = html(text="page c")
    watched.check()
    assert "a new page" in webhook.texts


def test_page_that_was_gone_and_returns_is_reported_as_returned(
    watched: WatchedSite, webhook: WebhookServer, capsys: pytest.CaptureFixture[str]
) -> None:
    watched.site.pages["/lamp"] = lamp(129)
    assert watched(f"{watched.site.root}/lamp", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    page = watched.site.pages.pop("/lamp")
    for _ in range(3):
        watched.check()
    watched.site.pages["/lamp"] = page
    for _ in range(3):
        watched.check()
    kinds = [message["changes"][0]["kinds"] for message in webhook.messages]
    assert kinds == [["gone"], ["returned"]]
    capsys.readouterr()
    assert main(["changes", "-C", str(watched.folder), "--kind", "returned", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kinds"] == ["returned"]


def test_single_run_checks_a_page_once_however_short_its_interval(watched: WatchedSite) -> None:
    watched.site.pages |= {f"/{n}": lamp(n) for n in range(6)}
    urls = [f"{watched.site.root}/{n}" for n in range(6)]
    assert watched(*urls, "--name", "lamps", "--every", "1ms") == 0
    watched.check()
    before = watched.site.hits.copy()
    watched.check()
    assert all(watched.site.hits[f"/{n}"] - before[f"/{n}"] == 1 for n in range(6))


def test_digest_collects_the_changes_of_all_watches(watched: WatchedSite, webhook: WebhookServer) -> None:
    for name in ("/lamp", "/desk"):
        watched.site.pages[name] = lamp(129)
        assert watched(f"{watched.site.root}{name}", "--every", "10ms", "--selector", "#price") == 0
    assert watched("--digest-all", "1h", "--notify", webhook.url) == 0
    watched.check()
    for name in ("/lamp", "/desk"):
        watched.site.pages[name] = lamp(119)
        watched.check()
    assert webhook.messages == []
    store = WatchStore(watched.folder)
    digest = store.load_digest()
    assert digest is not None
    store.save_digest(replace(digest, next_at=0.0))
    store.close()
    watched.check()
    watched.check()
    (message,) = webhook.messages
    assert message["watch"] == "all watches"
    assert len(message["changes"]) == 2
    assert watched("--digest-all", "off") == 0


def test_several_processes_send_a_message_once(watched: WatchedSite, webhook: WebhookServer) -> None:
    watched.site.pages["/lamp"] = lamp(129)
    flags = ["--selector", "#price", "--notify", webhook.url]
    assert watched(f"{watched.site.root}/lamp", "--every", "10ms", *flags) == 0
    watched.check()
    watched.site.pages["/lamp"] = lamp(119)
    webhook.status = 503
    watched.check()
    webhook.status, webhook.delay_seconds = 200, 0.3
    store = WatchStore(watched.folder)
    store.db.execute("UPDATE messages SET next_attempt_at = 0")
    store.close()
    threads = [threading.Thread(target=run_monitor_once, args=(watched.folder, lambda *_: None)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(webhook.requests) == 1


def test_failed_delivery_is_repeated_in_order(watched: WatchedSite, webhook: WebhookServer) -> None:
    watched.site.pages["/lamp"] = lamp(129)
    flags = ["--selector", "#price", "--notify", webhook.url]
    assert watched(f"{watched.site.root}/lamp", "--every", "10ms", *flags) == 0
    watched.check()
    webhook.status = 503
    for price in (119, 109):
        watched.site.pages["/lamp"] = lamp(price)
        watched.check()
    store = WatchStore(watched.folder)
    outbox = Outbox(store)
    assert outbox.count_unsent() == 2
    assert "503" in outbox.get_last_error(1)
    store.db.execute("UPDATE messages SET next_attempt_at = 0")
    store.close()
    webhook.status = 200
    watched.check()
    assert webhook.texts == ["119 EUR", "109 EUR"]


def test_paused_watch_sends_nothing_and_requests_nothing(watched: WatchedSite, webhook: WebhookServer) -> None:
    watched.site.pages["/lamp"] = lamp(129)
    assert watched(f"{watched.site.root}/lamp", "--name", "lamp", "--every", "10ms", "--notify", webhook.url) == 0
    watched.check()
    assert watched("--pause", "lamp") == 0
    watched.site.pages["/lamp"] = lamp(119)
    hits = watched.site.hits["/lamp"]
    watched.check()
    assert watched.site.hits["/lamp"] == hits
    assert watched("--resume", "lamp") == 0
    watched.check()
    assert len(webhook.requests) == 1
    assert watched("--remove", "lamp") == 0
    assert watched("--list") == 0


def test_test_message_reaches_the_target(watched: WatchedSite, webhook: WebhookServer) -> None:
    assert watched(f"{watched.site.root}/lamp", "--name", "lamp", "--notify", webhook.url) == 0
    assert watched("--test", "lamp") == 0
    assert webhook.messages[0]["changes"] == []


def test_kill_loses_and_repeats_no_message(watched: WatchedSite, webhook: WebhookServer) -> None:
    """Kill the service at random times while a price rises; every change arrives, in order, once by its id."""
    watched.site.pages["/lamp"] = lamp(0)
    flags = ["--selector", "#price", "--notify", webhook.url]
    assert watched(f"{watched.site.root}/lamp", "--every", "50ms", *flags) == 0
    command = [
        sys.executable,
        "-m",
        "sanderling",
        "watch",
        "-C",
        str(watched.folder),
        "--allow-private",
        "--delay",
        "0",
    ]
    random_times = random.Random(5)
    price, webhook.delay_seconds = 0, 0.1
    for _ in range(6):
        process = subprocess.Popen([*command, "--quiet", "--workers", "1"], stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 20
            hits = watched.site.hits["/lamp"]
            while watched.site.hits["/lamp"] < hits + 2 and time.monotonic() < deadline:
                time.sleep(0.02)
            for _ in range(3):
                price += 1
                watched.site.pages["/lamp"] = lamp(price)
                hits = watched.site.hits["/lamp"]
                while watched.site.hits["/lamp"] < hits + 2 and time.monotonic() < deadline:
                    time.sleep(0.01)
            time.sleep(random_times.uniform(0, 1.2))
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    webhook.delay_seconds = 0.0
    watched.check()
    store = WatchStore(watched.folder)
    store.db.execute("UPDATE messages SET next_attempt_at = 0")
    store.close()
    watched.check()
    prices = [int(text.split()[0]) for text in webhook.texts]
    assert prices == sorted(set(prices))
    assert prices[-1] == price
    assert len(prices) == price
