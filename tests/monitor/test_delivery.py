from pathlib import Path

from tests.monitor.conftest import WebhookServer

from sanderling.monitor.delivery import Deliverer
from sanderling.monitor.outbox import Outbox
from sanderling.monitor.watch_store import WatchStore


def test_many_messages_to_a_target_are_sent_at_once_and_in_order(tmp_path: Path, webhook: WebhookServer) -> None:
    store = WatchStore(tmp_path)
    for number in range(30):
        store.db.execute(
            "INSERT INTO messages (key, watch, target, created_at, attempts, next_attempt_at, sent_at, error, body)"
            " VALUES (?, 1, ?, 0, 0, 0, 0, '', ?)",
            (f"m{number:02}", webhook.url, b"{}"),
        )
    deliverer = Deliverer(Outbox(store))
    assert deliverer.run_for(60.0) == 30
    assert [headers["webhook-id"] for headers, _ in webhook.requests] == [f"m{number:02}" for number in range(30)]
    assert deliverer.run_for(60.0) == 0
    deliverer.close()
    store.close()
