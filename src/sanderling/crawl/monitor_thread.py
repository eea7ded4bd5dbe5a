"""Evaluate the visits of watched pages and send messages: in a thread, or once."""

import threading
import time
from pathlib import Path

from sanderling.clock import Clock, system_clock
from sanderling.monitor.delivery import Deliverer
from sanderling.monitor.evaluate import EventHandler, WatchEvaluator
from sanderling.monitor.outbox import Outbox
from sanderling.monitor.watch_store import WatchStore
from sanderling.storage.collection import open_collection_read_only

POLL_SECONDS = 0.5
DELIVERY_SECONDS = 60.0  # at most, to send the messages of a single run


class MonitorThread(threading.Thread):
    """Evaluates new visits, builds messages and delivers them, with its own connections."""

    def __init__(self, folder: Path, on_event: EventHandler, clock: Clock) -> None:
        super().__init__(name="monitor", daemon=True)
        self.folder = folder
        self.on_event = on_event
        self.clock = clock
        self.stop_event = threading.Event()
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001 raised again by stop()
            self.error = error

    def _run(self) -> None:
        store = WatchStore(self.folder)
        outbox = Outbox(store)
        deliverer = Deliverer(outbox, self.clock)
        with open_collection_read_only(self.folder) as collection:
            evaluator, version = WatchEvaluator(collection, store, self.on_event), store.get_version()
            evaluator.start()
            is_last = False
            while not is_last:
                is_last = self.stop_event.wait(POLL_SECONDS)
                if store.get_version() != version:
                    version = store.get_version()
                    if store.have_watches_changed():
                        evaluator.load_watches()
                evaluator.evaluate_new_visits()
                evaluator.report_unconfirmed(self.clock())
                outbox.queue_messages(evaluator.watches, self.clock())
                deliverer.run_for(POLL_SECONDS)
        deliverer.close()
        store.close()

    def stop(self) -> None:
        """Evaluate the stored visits, then end. Unsent messages are sent by the next run."""
        self.stop_event.set()
        self.join()
        if self.error is not None:
            raise self.error


def run_monitor_once(
    folder: Path, on_event: EventHandler, clock: Clock = system_clock, *, is_last: bool = True
) -> None:
    """Evaluate all new visits, and send the messages that are ready.

    The last evaluation of a run reports what pages share, and changes that no control fetch confirmed yet.
    """
    store = WatchStore(folder)
    outbox = Outbox(store)
    deliverer = Deliverer(outbox, clock)
    with open_collection_read_only(folder) as collection:
        evaluator = WatchEvaluator(collection, store, on_event, hold_seconds=0.0)
        evaluator.start()
        evaluator.evaluate_new_visits(reports_shared=False)
        if is_last:
            evaluator.report_unconfirmed(clock(), 0.0)
            evaluator.report_shared_changes(clock())
        outbox.queue_messages(evaluator.watches, clock())
    deadline = time.monotonic() + DELIVERY_SECONDS
    while (deliverer.run_for(POLL_SECONDS) or deliverer.in_flight) and time.monotonic() < deadline:
        pass
    deliverer.close()
    store.close()
