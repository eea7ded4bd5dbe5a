"""Worker process: commands in and reports out over a socket."""

import select
import signal
import socket
import sys
import time
from math import inf
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from sanderling.content.soft_404 import detect_soft_error
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.response_processor import FingerprintInput
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.fingerprint.text_hash import fingerprint_text
from sanderling.html.parser import Document
from sanderling.html.scanned_page import ScanResult
from sanderling.html.text import extract_raw_text
from sanderling.models import StoredVersion, WorkerReport
from sanderling.page_fingerprints import NO_FINGERPRINTS, PageFingerprints
from sanderling.runtime.memory import freeze_loaded_modules, reduce_gc_frequency
from sanderling.urls.content_pattern import has_variable_part
from sanderling.workers.browser.renderer import can_render
from sanderling.workers.pattern_sampling import PatternSampler
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
MAX_BODY_SIZE = 300_000  # bytes; a longer page is compared with its text
TURN_SECONDS = 0.02  # of the fetch loop, between two checks for commands


def compute_fingerprints(page: Document | ScanResult, fingerprint_input: FingerprintInput) -> PageFingerprints:
    """Compute the fingerprints of a page; compare in detail only if it changed."""
    structure, comparison = fingerprint_structure(page), NO_FINGERPRINTS
    if fingerprint_input.is_changed:
        comparison = _fingerprint_changes(page, fingerprint_input)
    if fingerprint_input.url and has_variable_part(fingerprint_input.url):
        comparison = replace(comparison, undated=_fingerprint_undated_content(page, fingerprint_input))
    if isinstance(page, ScanResult):
        text_hash, minhash = page.text_fingerprints
        return replace(comparison, structure=structure, text=text_hash, minhash=minhash)
    text = extract_raw_text(page)  # last: it modifies the tree
    text_hash, minhash = fingerprint_text(text)
    fingerprints = replace(comparison, structure=structure, text=text_hash, minhash=minhash)
    soft_error = detect_soft_error(page, text, fingerprint_input.body if fingerprint_input.is_changed else None)
    if soft_error or fingerprint_input.is_changed:  # the last version may have been a soft error
        return replace(fingerprints, soft_error=(soft_error or "").encode())
    return fingerprints


_pattern_sampler = PatternSampler()


def _fingerprint_undated_content(page: Document | ScanResult, fingerprint_input: FingerprintInput) -> bytes | None:
    """Hash what a page says apart from its date and its URL: a program may make any number of such pages.

    None: the page is too large. Empty: the page is not compared.
    """
    if len(fingerprint_input.body) > MAX_BODY_SIZE:
        return None
    pattern = _pattern_sampler.count_page(fingerprint_input.url)
    if pattern is None:
        return b""
    from sanderling.fingerprint.undated_content import hash_undated_content  # most crawls do not need its word lists

    content = hash_undated_content(fingerprint_input.body, page.encoding or "", fingerprint_input.url)
    _pattern_sampler.record(pattern, content)
    return content


def _fingerprint_changes(page: Document | ScanResult, fingerprint_input: FingerprintInput) -> PageFingerprints:
    """Compute the fingerprints that describe the difference to the previous version."""
    from sanderling.fingerprint.fast.compare import (
        UNCHANGED_FINGERPRINTS,
        PreviousVersion,
        build_comparison_fingerprints,
    )  # not needed for new pages, which are most

    if isinstance(page, ScanResult) or fingerprint_input.has_same_stable_hash:
        return UNCHANGED_FINGERPRINTS
    old = fingerprint_input.previous_version or NO_STORED_VERSION
    stable_hash = b"" if old.stable_hash else fingerprint_input.stable_hash
    return build_comparison_fingerprints(
        page,
        fingerprint_input.body,
        PreviousVersion(fingerprint_input.previous_body, old.charset, old.has_fingerprint, stable_hash),
    )


class Worker:
    """Runs a fetch loop, and handles commands between its turns."""

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
        """Fetch until a quit command, or until the coordinator is gone.

        The first report precedes any fetch: a worker lost after it may have been killed by a page.
        """
        self._send_report(WorkerReport(self.name))
        while self._handle_commands():
            report = self.fetch_loop.run_for(TURN_SECONDS) if self.fetch_loop.load else WorkerReport(self.name)
            self._send_report(report)

    def _handle_commands(self) -> bool:
        select.select([self.sock], [], [], 0 if self.fetch_loop.load else HEARTBEAT_SECONDS)
        is_open = self.frames.receive(self.sock)
        is_expired = self._is_lease_expired()
        for body in self.frames.pop_frames():
            match self.command_decoder.decode(body):
                case FetchCommand(batch):
                    self.fetch_loop.submit(batch)
                case CancelCommand(host):
                    self._send_report(
                        WorkerReport(self.name, tuple(self.fetch_loop.cancel(drop_in_flight=False, host=host)))
                    )
                case QuitCommand():
                    return False
        if is_expired:
            self._send_report(WorkerReport(self.name, tuple(self.fetch_loop.cancel(drop_in_flight=False))))
        return is_open

    def _is_lease_expired(self) -> bool:
        """Return whether this process was suspended for longer than a lease."""
        now = time.monotonic()
        gap, self.last_poll = now - self.last_poll, now
        return gap > self.lease_seconds

    def _send_report(self, report: WorkerReport) -> None:
        now = time.time()
        is_due = now - self.last_heartbeat >= HEARTBEAT_SECONDS
        if not (report.visits or report.robots or report.suspect_token or is_due):
            return
        heartbeat = None
        if is_due:
            heartbeat = msgspec.structs.replace(self.fetch_loop.build_heartbeat(), worker=self.name)
            self.last_heartbeat = now
        self._send_bytes(encode_frame(msgspec.structs.replace(report, worker=self.name, heartbeat=heartbeat)))

    def _send_bytes(self, data: bytes) -> None:
        self.sock.setblocking(True)
        try:
            self.sock.sendall(data)
        finally:
            self.sock.setblocking(False)


def build_fetch_loop(config: WorkerConfig, name: str) -> "FetchLoop | RemoteFetchLoop":
    """Build a fetch loop that fetches directly, or through a migrant."""
    if config.migrant_address is None and config.settings.uses_browser and can_render():
        from sanderling.workers.browser.adaptive_loop import AdaptiveLoop  # lazy: needs an extra

        return AdaptiveLoop(config.settings, compute_fingerprints, name=name, packs_links=True)
    if config.migrant_address is None and (config.settings.keeps_rendered or config.settings.uses_browser):
        from sanderling.workers.browser.kept_versions import KeepingLoop

        return KeepingLoop(config.settings, compute_fingerprints, name=name, packs_links=True)
    if config.migrant_address is None:
        return FetchLoop(config.settings, compute_fingerprints, name=name, packs_links=True)
    from sanderling.workers.migrant.proxy import RemoteFetchLoop

    return RemoteFetchLoop(config.settings, compute_fingerprints, config.migrant_address, name=name)


def run_worker(name: str, sock: socket.socket) -> None:
    """Run a worker with the configuration in the first frame, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the coordinator
    header = sock.recv(4, socket.MSG_WAITALL)
    if len(header) < 4:
        return
    config = msgspec.msgpack.decode(sock.recv(int.from_bytes(header, "big"), socket.MSG_WAITALL), type=WorkerConfig)
    sock.setblocking(False)
    reduce_gc_frequency()
    with freeze_loaded_modules():
        fetch_loop = build_fetch_loop(config, name)
    try:
        Worker(name, fetch_loop, sock, config.settings.lease_seconds).run()
    except (BrokenPipeError, ConnectionResetError):  # the coordinator is gone; leases expire
        return
    finally:
        fetch_loop.close()


def main() -> None:
    """Run a worker from the command line: `worker.py NAME FD`."""
    run_worker(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))


if __name__ == "__main__":
    main()
