"""Frames between coordinator and worker: a length prefix and msgpack."""

import selectors
import socket
import struct
from typing import TypeVar

import msgspec
from msgspec import Struct

from sanderling.errors import ClusterUnavailable
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, Host, WorkerReport
from sanderling.workers.migrant.address import MigrantAddress

LENGTH_PREFIX = struct.Struct("!I")
MAX_FRAME_BYTES = 512 * 2**20
RECEIVE_BYTES = 2**18
SOCKET_BUFFER_BYTES = 4 * 2**20  # of the socket, and per send


class WorkerConfig(Struct, frozen=True):
    """The first frame sent to a worker."""

    settings: FetchSettings
    migrant_address: MigrantAddress | None = None  # None: fetch directly


class FetchCommand(Struct, frozen=True, tag=True):
    batch: FetchBatch


class CancelCommand(Struct, frozen=True, tag=True):
    """Finish requests in flight and return the other tasks of a host (None: of all)."""

    host: Host | None = None


class QuitCommand(Struct, frozen=True, tag=True):
    """Send finished visits and exit."""


WorkerCommand = FetchCommand | CancelCommand | QuitCommand
T = TypeVar("T")

_decode_report = msgspec.msgpack.Decoder(WorkerReport).decode


def encode_frame(message: object) -> bytes:
    """Encode a message with its length prefix."""
    body = msgspec.msgpack.encode(message)
    return LENGTH_PREFIX.pack(len(body)) + body


def decode_report(body: bytes) -> WorkerReport:
    """Decode a report. Raises ClusterUnavailable if the worker runs another version."""
    try:
        return _decode_report(body)
    except msgspec.DecodeError as error:
        raise ClusterUnavailable(
            f"a worker sent an unreadable report: {error}; it seems to run another version of sanderling."
            " Install the same version on all machines and run the same command again: it resumes"
        ) from None


def split_frames(buffer: bytearray, max_bytes: int) -> list[bytes]:
    """Remove and return complete frames. Raises ValueError for a frame above `max_bytes`."""
    frames, start = [], 0
    while len(buffer) - start >= LENGTH_PREFIX.size:
        (length,) = LENGTH_PREFIX.unpack_from(buffer, start)
        if length > max_bytes:
            raise ValueError(f"message of {length} bytes exceeds the limit of {max_bytes}")
        end = start + LENGTH_PREFIX.size + length
        if len(buffer) < end:
            break
        frames.append(bytes(memoryview(buffer)[start + LENGTH_PREFIX.size : end]))  # a memoryview saves a copy
        start = end
    del buffer[:start]
    return frames


def send_buffered(sock: socket.socket, outgoing: bytearray) -> int:
    """Send the bytes that fit. Returns the selector events to wait for."""
    try:
        while outgoing:
            del outgoing[: sock.send(memoryview(outgoing)[:SOCKET_BUFFER_BYTES].tobytes())]
    except BlockingIOError:
        pass
    except OSError:  # the worker is gone; the next receive reports it
        outgoing.clear()
    return selectors.EVENT_READ | (selectors.EVENT_WRITE if outgoing else 0)


class FrameBuffer:
    """Splits the bytes received from a socket into frames."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def receive(self, sock: socket.socket) -> bool:
        """Receive available bytes. Returns False if the connection is closed."""
        try:
            while True:
                data = sock.recv(RECEIVE_BYTES)
                if not data:
                    return False
                self.buffer += data
                if len(data) < RECEIVE_BYTES:
                    return True
        except BlockingIOError:
            return True
        except OSError:
            return False

    def pop_frames(self) -> list[bytes]:
        """Remove and return complete frames."""
        return split_frames(self.buffer, MAX_FRAME_BYTES)
