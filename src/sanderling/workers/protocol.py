"""Frames between coordinator and migrant: a length, then msgpack. The same bytes go over a pipe or a network."""

import selectors
import socket
import struct
from typing import TypeVar

import msgspec
from msgspec import Struct

from sanderling.errors import EngineUnavailable
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import Host, Itinerary, Parcel
from sanderling.workers.migrant.address import Address

LENGTH = struct.Struct("!I")
MAX_FRAME = 512 * 2**20
CHUNK = 2**18
BUFFER = 4 * 2**20  # that a socket may hold, and that goes out at once


class Start(Struct, frozen=True):
    """What a new migrant is told first."""

    settings: FetchSettings
    host: Address | None = None  # None: it fetches by itself


class Go(Struct, frozen=True, tag=True):
    """Start on this errand."""

    itinerary: Itinerary


class Abandon(Struct, frozen=True, tag=True):
    """Finish what is in flight, hand the rest back: of one host, or of all if none is named."""

    host: Host | None = None


class Quit(Struct, frozen=True, tag=True):
    """End, after sending what is done."""


Order = Go | Abandon | Quit
T = TypeVar("T")

_parcel = msgspec.msgpack.Decoder(Parcel).decode


def frame(message: object) -> bytes:
    """One message as bytes on the wire."""
    body = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(body)) + body


def parcel_of(body: bytes) -> Parcel:
    """Read what a migrant sent; where another version of the program runs, that may be something else."""
    try:
        return _parcel(body)
    except msgspec.DecodeError as error:
        raise EngineUnavailable(
            f"a migrant sent what cannot be read: {error}; was the program replaced by another version while it ran, or"
            " is another one installed where migrants live? Give the same command again: it resumes"
        ) from None


def split_frames(buffer: bytearray, most: int) -> list[bytes]:
    """Take whole frames off the front of a buffer; ValueError for one of more than `most` bytes."""
    found, start = [], 0
    while len(buffer) - start >= LENGTH.size:
        (length,) = LENGTH.unpack_from(buffer, start)
        if length > most:
            raise ValueError(f"a message of {length} bytes; {most} are allowed")
        end = start + LENGTH.size + length
        if len(buffer) < end:
            break
        found.append(bytes(memoryview(buffer)[start + LENGTH.size : end]))  # one copy, not two
        start = end
    del buffer[:start]
    return found


def push(sock: socket.socket, outgoing: bytearray) -> int:
    """Send what fits and take it off; gives the events to wait for. What is for somebody who is gone is let go."""
    try:
        while outgoing:
            del outgoing[: sock.send(memoryview(outgoing)[:BUFFER].tobytes())]
    except BlockingIOError:
        pass
    except OSError:  # the next receive says so
        outgoing.clear()
    return selectors.EVENT_READ | (selectors.EVENT_WRITE if outgoing else 0)


class Inbox:
    """Collects bytes from a socket and gives out whole frames."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def read(self, sock: socket.socket) -> bool:
        """Take what has come; False when the other side is gone."""
        try:
            while True:
                data = sock.recv(CHUNK)
                if not data:
                    return False
                self.buffer += data
                if len(data) < CHUNK:
                    return True
        except BlockingIOError:
            return True
        except OSError:
            return False

    def frames(self) -> list[bytes]:
        """Whole frames that have come so far."""
        return split_frames(self.buffer, MAX_FRAME)
