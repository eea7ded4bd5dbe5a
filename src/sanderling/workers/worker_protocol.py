"""Frames between coordinator and migrant: a length, then msgpack. The same bytes go over a pipe or a network."""

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
SOCKET_BUFFER_BYTES = 4 * 2**20  # that a socket may hold, and that goes out at once


class WorkerConfig(Struct, frozen=True):
    """What a new migrant is told first."""

    settings: FetchSettings
    migrant_address: MigrantAddress | None = None  # None: it fetches by itself


class FetchCommand(Struct, frozen=True, tag=True):
    """Start on this errand."""

    batch: FetchBatch


class CancelCommand(Struct, frozen=True, tag=True):
    """Finish what is in flight, hand the rest back: of one host, or of all if none is named."""

    host: Host | None = None


class QuitCommand(Struct, frozen=True, tag=True):
    """End, after sending what is done."""


WorkerCommand = FetchCommand | CancelCommand | QuitCommand
T = TypeVar("T")

_decode_report = msgspec.msgpack.Decoder(WorkerReport).decode


def encode_frame(message: object) -> bytes:
    """One message as bytes on the wire."""
    body = msgspec.msgpack.encode(message)
    return LENGTH_PREFIX.pack(len(body)) + body


def decode_report(body: bytes) -> WorkerReport:
    """Read what a migrant sent; where another version of the program runs, that may be something else."""
    try:
        return _decode_report(body)
    except msgspec.DecodeError as error:
        raise ClusterUnavailable(
            f"a migrant sent what cannot be read: {error}; was the program replaced by another version while it ran, or"
            " is another one installed where migrants live? Give the same command again: it resumes"
        ) from None


def split_frames(buffer: bytearray, max_bytes: int) -> list[bytes]:
    """Take whole frames off the front of a buffer; ValueError for one of more than `most` bytes."""
    found, start = [], 0
    while len(buffer) - start >= LENGTH_PREFIX.size:
        (length,) = LENGTH_PREFIX.unpack_from(buffer, start)
        if length > max_bytes:
            raise ValueError(f"a message of {length} bytes; {max_bytes} are allowed")
        end = start + LENGTH_PREFIX.size + length
        if len(buffer) < end:
            break
        found.append(bytes(memoryview(buffer)[start + LENGTH_PREFIX.size : end]))  # one copy, not two
        start = end
    del buffer[:start]
    return found


def send_buffered(sock: socket.socket, outgoing: bytearray) -> int:
    """Send what fits and take it off; gives the events to wait for. What is for somebody who is gone is let go."""
    try:
        while outgoing:
            del outgoing[: sock.send(memoryview(outgoing)[:SOCKET_BUFFER_BYTES].tobytes())]
    except BlockingIOError:
        pass
    except OSError:  # the next receive says so
        outgoing.clear()
    return selectors.EVENT_READ | (selectors.EVENT_WRITE if outgoing else 0)


class FrameBuffer:
    """Collects bytes from a socket and gives out whole frames."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def receive(self, sock: socket.socket) -> bool:
        """Take what has come; False when the other side is gone."""
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
        """Whole frames that have come so far."""
        return split_frames(self.buffer, MAX_FRAME_BYTES)
