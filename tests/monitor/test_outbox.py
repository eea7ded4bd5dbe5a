from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sanderling.changes.changed_text import build_changed_text
from sanderling.changes.classify import ChangeKind, PageChange
from sanderling.changes.feed import ReportedChange
from sanderling.monitor import delivery
from sanderling.monitor.delivery import REPEATED_REMARK, send_message
from sanderling.monitor.outbox import CLAIM_SECONDS, Outbox
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import WatchStore

WATCH = Watch(name="lamp", urls=("https://example.org/lamp",), notify=("mailto://a:b@example.org",))
CHANGE = ReportedChange(
    "https://example.org/lamp", 10.0, 5.0, PageChange((ChangeKind.CONTENT,), 1.0, 1.0), "Lamp", 200,
    (build_changed_text("129 EUR", "119 EUR"),),
)  # fmt: skip


def queue_message(store: WatchStore) -> Outbox:
    watch_id, outbox = store.save_watch(WATCH), Outbox(store)
    store.add_event(watch_id, 1, 1, 10.0, CHANGE)
    assert outbox.queue_messages(store.load_watches(), 10.0) == 1
    assert outbox.queue_messages(store.load_watches(), 10.0) == 0
    return outbox


def test_claimed_message_is_sent_by_one_process(tmp_path: Path) -> None:
    store, second = WatchStore(tmp_path), WatchStore(tmp_path)
    outbox = queue_message(store)
    (message,) = outbox.load_sendable(10.0)
    (same,) = Outbox(second).load_sendable(10.0)
    assert outbox.claim(message, 10.0) is not None
    assert Outbox(second).claim(same, 10.0) is None
    assert Outbox(second).load_sendable(10.0) == []


def test_message_of_a_killed_sender_says_that_it_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, bodies = queue_message(WatchStore(tmp_path)), list[str]()

    class Sender:
        def notify(self, body: str, title: str) -> object:
            bodies.append(f"{title}: {body}")
            return True

    monkeypatch.setattr(delivery, "open_sender", lambda _: Sender())
    first: Any = outbox.claim(outbox.load_sendable(10.0)[0], 10.0)
    assert send_message(first, "whsec_", 10.0) == ""  # killed here, before record_sent
    (found,) = outbox.load_sendable(11.0 + CLAIM_SECONDS)
    again: Any = outbox.claim(found, 11.0 + CLAIM_SECONDS)
    assert send_message(again, "whsec_", 11.0) == ""
    outbox.record_sent(again, 12.0)
    assert outbox.load_sendable(1e9) == []
    assert [REPEATED_REMARK in body for body in bodies] == [False, True]
    assert again.key == first.key


def test_released_message_is_sent_as_the_first_copy(tmp_path: Path) -> None:
    outbox = queue_message(WatchStore(tmp_path))
    claimed = outbox.claim(outbox.load_sendable(10.0)[0], 10.0)
    assert claimed is not None
    outbox.release(claimed)
    again = outbox.claim(outbox.load_sendable(10.0)[0], 10.0)
    assert again == replace(claimed, is_repeated=False)
