"""A migrant in a process of its own: orders in and parcels out by one socket, gone when the other end is gone."""

import select
import signal
import socket
import sys
import time
from math import inf
from typing import TYPE_CHECKING

import msgspec

from sanderling.content.soft_404 import detect_soft_error
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.process import FingerprintInput
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.fingerprint.text_hash import fingerprint_text
from sanderling.html.parser import Document
from sanderling.html.scanned_page import ScanResult
from sanderling.html.text import extract_raw_text
from sanderling.models import StoredVersion, WorkerReport
from sanderling.runtime.memory import freeze_loaded_modules, reduce_gc_frequency
from sanderling.workers.worker_protocol import (
    CancelCommand,
    FetchCommand,
    FrameBuffer,
    QuitCommand,
    WorkerCommand,
    WorkerConfig,
    encode_frame,
)

if TYPE_CHECKING:
    from sanderling.workers.migrant.proxy import RemoteFetchLoop

HEARTBEAT_SECONDS = 2.0
NO_STORED_VERSION = StoredVersion("", 0, 0)
TURN_SECONDS = 0.02  # how long curl is driven before orders are looked at again


def compute_fingerprints(page: Document | ScanResult, fingerprint_input: FingerprintInput) -> dict[str, bytes]:
    """What later rooms compare pages by; the full signature only where a page changed, for it costs most."""
    found = {"structure": fingerprint_structure(page)}
    if fingerprint_input.is_changed:
        found |= _fingerprint_changes(page, fingerprint_input)
    if isinstance(page, ScanResult):
        found["text"], found["minhash"] = page.text_fingerprints
        return found
    words = extract_raw_text(page)  # last: it takes the tree apart
    found["text"], found["minhash"] = fingerprint_text(words)
    said = detect_soft_error(page, words, fingerprint_input.body if fingerprint_input.is_changed else None)
    if said or fingerprint_input.is_changed:  # the last version may have been a notice
        found["pretence"] = (said or "").encode()
    return found


def _fingerprint_changes(page: Document | ScanResult, fingerprint_input: FingerprintInput) -> dict[str, bytes]:
    """Mark in what a page differs from its last version."""
    from sanderling.fingerprint.fast.compare import (
        UNCHANGED_FINGERPRINTS,
        PreviousVersion,
        build_comparison_fingerprints,
    )  # most pages of most crawls are new

    if isinstance(page, ScanResult) or fingerprint_input.has_same_stable_hash:
        return UNCHANGED_FINGERPRINTS
    kept = fingerprint_input.previous_version or NO_STORED_VERSION
    left = b"" if kept.stable_hash else fingerprint_input.stable_hash
    return build_comparison_fingerprints(
        page,
        fingerprint_input.body,
        PreviousVersion(fingerprint_input.previous_body, kept.charset, kept.has_fingerprint, left),
    )


class Worker:
    """Drives one trip between two looks at the orders."""

    def __init__(
        self, name: str, fetch_loop: "FetchLoop | RemoteFetchLoop", sock: socket.socket, lease_seconds: float = inf
    ) -> None:
        self.name = name
        self.fetch_loop = fetch_loop
        self.sock = sock
        self.frames = FrameBuffer()
        self.command_decoder = msgspec.msgpack.Decoder(WorkerCommand)
        self.last_heartbeat = 0.0
        self.lease_seconds = lease_seconds
        self.last_poll = time.monotonic()

    def run(self) -> None:
        """Work until told to quit or until the coordinator is gone.

        The first word comes before all work: whoever is lost after it could begin, and what it held may be to blame.
        """
        self._send_report(WorkerReport(self.name))
        while self._handle_commands():
            parcel = self.fetch_loop.run_for(TURN_SECONDS) if self.fetch_loop.load else WorkerReport(self.name)
            self._send_report(parcel)

    def _handle_commands(self) -> bool:
        select.select([self.sock], [], [], 0 if self.fetch_loop.load else HEARTBEAT_SECONDS)
        alive = self.frames.receive(self.sock)
        is_expired = self._is_lease_expired()
        for body in self.frames.pop_frames():
            match self.command_decoder.decode(body):
                case FetchCommand(itinerary):
                    self.fetch_loop.submit(itinerary)
                case CancelCommand(host):
                    self._send_report(
                        WorkerReport(self.name, tuple(self.fetch_loop.cancel(drop_in_flight=False, host=host)))
                    )
                case QuitCommand():
                    return False
        if is_expired:
            self._send_report(WorkerReport(self.name, tuple(self.fetch_loop.cancel(drop_in_flight=False))))
        return alive

    def _is_lease_expired(self) -> bool:
        """Was this process stopped for longer than a lease? Then its URLs may belong to other workers by now."""
        now = time.monotonic()
        gap, self.last_poll = now - self.last_poll, now
        return gap > self.lease_seconds

    def _send_report(self, report: WorkerReport) -> None:
        now = time.time()
        beat = now - self.last_heartbeat >= HEARTBEAT_SECONDS
        if not (report.visits or report.robots or report.suspect_token or beat):
            return
        vitals = None
        if beat:
            vitals, self.last_heartbeat = (
                msgspec.structs.replace(self.fetch_loop.build_heartbeat(), worker=self.name),
                now,
            )
        self._send_bytes(encode_frame(msgspec.structs.replace(report, worker=self.name, heartbeat=vitals)))

    def _send_bytes(self, data: bytes) -> None:
        self.sock.setblocking(True)
        try:
            self.sock.sendall(data)
        finally:
            self.sock.setblocking(False)


def build_fetch_loop(config: WorkerConfig, name: str) -> "FetchLoop | RemoteFetchLoop":
    """Begin a trip: from here, or with the eyes of a host beside the web server."""
    if config.migrant_address is None:
        return FetchLoop(config.settings, compute_fingerprints, name=name, packs_links=True)
    from sanderling.workers.migrant.proxy import RemoteFetchLoop

    return RemoteFetchLoop(config.settings, compute_fingerprints, config.migrant_address, name=name)


def run_worker(name: str, sock: socket.socket) -> None:
    """The life of a migrant, from its settings in the first frame to its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who tells us
    header = sock.recv(4, socket.MSG_WAITALL)
    if len(header) < 4:
        return
    start = msgspec.msgpack.decode(sock.recv(int.from_bytes(header, "big"), socket.MSG_WAITALL), type=WorkerConfig)
    sock.setblocking(False)
    reduce_gc_frequency()
    with freeze_loaded_modules():
        trip = build_fetch_loop(start, name)
    try:
        Worker(name, trip, sock, start.settings.lease_seconds).run()
    except (BrokenPipeError, ConnectionResetError):  # the coordinator is gone; what we hold is leased and comes back
        return
    finally:
        trip.close()


def main() -> None:
    """Entry point of a process of its own: `worker.py NAME FD`."""
    run_worker(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))


if __name__ == "__main__":
    main()
