"""Messages to be sent: built from events in one transaction, and stored until they were delivered.

A message has a key that depends only on its events, so that a receiver can drop a message that it got twice. Before it
is sent, a process claims it, so that of several processes only one sends it.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from msgspec import Struct, json
from msgspec.structs import replace

from sanderling.changes.change_groups import build_text_key, group_changes
from sanderling.changes.changed_text import ChangedText
from sanderling.changes.feed import ReportedChange
from sanderling.db.connection import transaction
from sanderling.monitor.message_text import build_payload
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import WatchEvent, WatchStore
from sanderling.urls.scope import get_site

SHARED_SECONDS = 86_400.0  # further pages of a shared change are not reported again for this time
FIRST_RETRY_SECONDS = 10.0
MAX_RETRY_SECONDS = 3_600.0
CLAIM_SECONDS = 120.0  # longer than any delivery takes
CLAIMED = "claimed"  # stored as the error of a message that is being sent
DIGEST_WATCH = Watch(name="all watches")
SENT_SECONDS = 30 * 86_400.0  # how long delivered messages stay in the list


class OutgoingMessage(Struct, frozen=True):
    id: int
    key: str
    target: str
    attempts: int
    body: bytes  # JSON payload
    is_repeated: bool = False  # its sender was killed before the result was stored


class Outbox:
    def __init__(self, store: WatchStore) -> None:
        self.store = store
        self.db = store.db

    def queue_messages(self, watches: Mapping[int, Watch], now: float) -> int:
        """Build messages from the events that are ready. Returns the number of messages."""
        digest = self.store.load_digest()
        if not self.store.load_ready_events(now) and (digest is None or digest.next_at > now):
            return 0
        with transaction(self.db):  # loads the events again: another process may build the same messages
            count = self._queue_digest(now)
            for watch_id, events in self.store.load_ready_events(now).items():
                watch = watches.get(watch_id)
                if watch is not None:
                    count += self._queue_watch(watch_id, watch, events, now)
                    self.store.finish_events(watch_id, events[-1].id)
        return count

    def _queue_digest(self, now: float) -> int:
        """Build the message about the changes of all watches if it is due."""
        digest = self.store.load_digest()
        if digest is None or digest.next_at > now:
            return 0
        events = self.store.load_events_after(digest.last_event)
        last_event = events[-1].id if events else digest.last_event
        self.store.save_digest(replace(digest, last_event=last_event, next_at=now + digest.every))
        changes = group_changes([event.change for event in events])
        identity = f"digest {events[0].id} {last_event}" if events else ""
        return self._add_messages(0, DIGEST_WATCH, digest.notify, changes, identity, now)

    def _queue_watch(self, watch_id: int, watch: Watch, events: Sequence[WatchEvent], now: float) -> int:
        changes = group_changes(self._drop_announced_texts(watch_id, [event.change for event in events], now))
        self._record_shared_texts(watch_id, changes, now)
        identity = f"{watch_id} {' '.join(str(event.id) for event in events)}"
        return self._add_messages(watch_id, watch, watch.notify, changes, identity, now)

    def _add_messages(
        self,
        watch_id: int,
        watch: Watch,
        targets: Sequence[str],
        changes: Sequence[ReportedChange],
        identity: str,
        now: float,
    ) -> int:
        """Store a message for each target. Returns their number."""
        if not changes:
            return 0
        body = json.encode(build_payload(watch, changes))
        for target in targets:
            key = sha256(f"{self.store.get_webhook_key()} {identity} {target}".encode()).hexdigest()[:32]
            self.db.execute(
                "INSERT INTO messages (key, watch, target, created_at, attempts, next_attempt_at, sent_at, error, body)"
                " VALUES (?, ?, ?, ?, 0, ?, 0, '', ?) ON CONFLICT (key) DO NOTHING",
                (key, watch_id, target, now, now, body),
            )
        return len(targets)

    def _drop_announced_texts(
        self, watch_id: int, changes: Sequence[ReportedChange], now: float
    ) -> list[ReportedChange]:
        """Leave out texts that were reported as shared by several pages; a change of nothing else is dropped."""
        self.db.execute("DELETE FROM shared_texts WHERE at < ?", (now - SHARED_SECONDS,))
        rows = self.db.execute("SELECT key FROM shared_texts WHERE watch = ?", (watch_id,)).fetchall()
        announced = {key for (key,) in rows}
        kept = []
        for change in changes:
            texts = tuple(text for text in change.texts if _build_shared_key(change, text) not in announced)
            if texts or not change.texts:
                kept.append(replace(change, texts=texts))
        return kept

    def _record_shared_texts(self, watch_id: int, changes: Sequence[ReportedChange], now: float) -> None:
        self.db.executemany(
            "INSERT INTO shared_texts VALUES (?, ?, ?) ON CONFLICT (watch, key) DO NOTHING",
            [
                (watch_id, _build_shared_key(change, text), now)
                for change in changes
                if change.shared_urls
                for text in change.texts
            ],
        )

    def load_sendable(self, now: float) -> list[OutgoingMessage]:
        """Return the first unsent message of each target whose time has come: messages are sent in order."""
        rows = self.db.execute(
            "SELECT id, key, target, attempts, body FROM messages WHERE id IN"
            " (SELECT min(id) FROM messages WHERE sent_at = 0 GROUP BY target) AND next_attempt_at <= ?",
            (now,),
        )
        return [OutgoingMessage(*row) for row in rows]

    def claim(self, message: OutgoingMessage, now: float) -> OutgoingMessage | None:
        """Reserve a message for this process. None: another one has it.

        A message whose sender was killed is marked: the receiver may have it already.
        """
        with transaction(self.db):
            row = self.db.execute(
                "SELECT error FROM messages WHERE id = ? AND sent_at = 0 AND next_attempt_at <= ?", (message.id, now)
            ).fetchone()
            if row is None:
                return None
            self.db.execute(
                "UPDATE messages SET next_attempt_at = ?, error = ? WHERE id = ?",
                (now + CLAIM_SECONDS, CLAIMED, message.id),
            )
        return replace(message, is_repeated=row[0] == CLAIMED)

    def release(self, message: OutgoingMessage) -> None:
        """Give back a message that was not sent."""
        self.db.execute("UPDATE messages SET next_attempt_at = 0, error = '' WHERE id = ?", (message.id,))

    def count_unsent(self) -> int:
        return int(self.db.execute("SELECT count(*) FROM messages WHERE sent_at = 0").fetchone()[0])

    def get_last_error(self, watch_id: int) -> str:
        """Return why the oldest unsent message of a watch was not delivered; empty if there is none."""
        sql = "SELECT error FROM messages WHERE watch = ? AND sent_at = 0 AND error NOT IN ('', ?) ORDER BY id LIMIT 1"
        row = self.db.execute(sql, (watch_id, CLAIMED)).fetchone()
        return str(row[0]) if row else ""

    def record_sent(self, message: OutgoingMessage, now: float) -> None:
        with transaction(self.db):
            self.db.execute("UPDATE messages SET sent_at = ?, error = '', body = '' WHERE id = ?", (now, message.id))
            self.db.execute("DELETE FROM messages WHERE sent_at > 0 AND sent_at < ?", (now - SENT_SECONDS,))

    def record_failure(self, message: OutgoingMessage, error: str, now: float) -> None:
        """Schedule the next attempt; each delay is twice the last, up to an hour."""
        delay = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** min(message.attempts, 20))
        with transaction(self.db):
            self.db.execute(
                "UPDATE messages SET attempts = attempts + 1, next_attempt_at = ?, error = ? WHERE id = ?",
                (now + delay, error[:300], message.id),
            )


def _build_shared_key(change: ReportedChange, text: ChangedText) -> str:
    return sha256(repr((get_site(change.url), build_text_key(text))).encode()).hexdigest()[:32]
