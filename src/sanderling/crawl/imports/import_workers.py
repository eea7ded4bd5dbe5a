"""Read and parse copied records in several processes, a batch at a time, in the order of the queue."""

import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Protocol

import msgspec

from sanderling.crawl.imports.imported_records import ImportReader, ImportReaderConfig, ImportTask, ProcessedImport
from sanderling.errors import CollectionError
from sanderling.runtime.isolation import build_python_command
from sanderling.runtime.memory import reduce_gc_frequency

MIN_RECORDS = 1_000  # fewer are read in this process: starting one takes as long
MAX_PROCESSES = 4  # the coordinator stores no faster
STARTED = b"started"
CRASHED = "its process ended while it was read"
_encode = msgspec.msgpack.Encoder().encode
_decode_tasks = msgspec.msgpack.Decoder(list[ImportTask]).decode
_decode_results = msgspec.msgpack.Decoder(list[ProcessedImport]).decode

Batch = Sequence[ImportTask]


class BatchReader(Protocol):
    """Reads a batch at a time."""

    def start(self, batch: Batch) -> None:
        """Start reading a batch. The batch before must be finished."""

    def finish(self) -> list[ProcessedImport]:
        """Wait for the batch."""

    def close(self) -> None: ...


class InlineReader:
    """Reads batches in this process."""

    def __init__(self, config: ImportReaderConfig) -> None:
        self._reader, self._batch = ImportReader(config), list[ImportTask]()

    def start(self, batch: Batch) -> None:
        self._batch = list(batch)

    def finish(self) -> list[ProcessedImport]:
        return _decode_results(_encode(self._reader.read_batch(self._batch)))  # links are packed in C

    def close(self) -> None:
        """Nothing to close."""


class ProcessReader:
    """Reads batches in a process of its own. A record that ends the process is left out."""

    def __init__(self, config: ImportReaderConfig) -> None:
        self._config, self._batch = config, list[ImportTask]()
        self._start_process()

    def _start_process(self) -> None:
        ours, theirs = socket.socketpair()
        command = build_python_command("-m", "sanderling.crawl.imports.import_workers", str(theirs.fileno()))
        with theirs:  # closed here, so that each process sees the end of the other
            self._process = subprocess.Popen(command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL)
        self._pipe = Connection(ours.detach())
        self._has_started = False
        with suppress(OSError):  # it has ended already, which receiving notices
            self._pipe.send(self._config)

    def start(self, batch: Batch) -> None:
        self._batch = list(batch)
        self._send(self._batch)

    def _send(self, batch: Batch) -> None:
        try:
            self._pipe.send_bytes(_encode(batch))
        except OSError:  # the process has ended; receiving notices it
            return

    def finish(self) -> list[ProcessedImport]:
        results = self._receive()
        return results if results is not None else [result for task in self._batch for result in self._read_alone(task)]

    def _read_alone(self, task: ImportTask) -> list[ProcessedImport]:
        self._send([task])
        return self._receive() or [ProcessedImport(task.queued, CRASHED)]

    def _receive(self) -> list[ProcessedImport] | None:
        """Return the results. None: the process has ended, and was replaced."""
        self._wait_for_start()
        try:
            return _decode_results(self._pipe.recv_bytes())
        except (EOFError, OSError):
            self.close()
            self._start_process()
            return None

    def _wait_for_start(self) -> None:
        try:
            self._has_started = self._has_started or self._pipe.recv_bytes() == STARTED
        except (EOFError, OSError):
            raise CollectionError("no process can be started to read the records") from None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()


def run_reader_process(pipe: Connection) -> None:
    """Read batches until the parent closes the pipe or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reduce_gc_frequency()
    with suppress(EOFError, OSError):
        reader = ImportReader(pipe.recv())
        pipe.send_bytes(STARTED)
        while True:
            pipe.send_bytes(_encode(reader.read_batch(_decode_tasks(pipe.recv_bytes()))))


def open_readers(config: ImportReaderConfig, record_count: int) -> list[BatchReader]:
    """Open a reader per processor; for few records, a reader in this process."""
    count = min(os.cpu_count() or 1, MAX_PROCESSES)
    if record_count < MIN_RECORDS or count < 2:
        return [InlineReader(config)]
    return [ProcessReader(config) for _ in range(count)]


def read_in_order(readers: Sequence[BatchReader], next_batch: Callable[[], Batch]) -> Iterator[list[ProcessedImport]]:
    """Yield the results of batches in their order; the next batch is read while the caller stores the results."""
    idle, reading = deque(readers), deque[BatchReader]()

    def start_reading() -> None:
        while idle and (batch := next_batch()):
            idle[0].start(batch)
            reading.append(idle.popleft())

    while True:
        start_reading()
        if not reading:
            return
        reader = reading.popleft()
        results = reader.finish()
        idle.append(reader)
        start_reading()
        yield results


if __name__ == "__main__":
    run_reader_process(Connection(int(sys.argv[1])))
