"""The little service around it all: one connection is one guest, each letter is checked before anything is done."""

import json
import queue
import re
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec

from sanderling.clock import Clock, real
from sanderling.errors import UsageError
from sanderling.workers.migrant import prose
from sanderling.workers.migrant.compression import Packing
from sanderling.workers.migrant.keys import is_signed, read_senders
from sanderling.workers.migrant.messages import (
    CODING_HEADER,
    KEY_HEADER,
    MEDIA_TYPE,
    MEMORY_HEADER,
    PATH,
    SIGNATURE_HEADER,
    Letter,
    Message,
    Packer,
    Unpacker,
)
from sanderling.workers.migrant.owner_rules import Dates, Nonces, Owner, Refusal, Site, refusal, site_of
from sanderling.workers.migrant.rate_limit import Door, Gate
from sanderling.workers.migrant.sender import Sender
from sanderling.workers.migrant.shared_dictionary import Memories
from sanderling.workers.migrant.site_reader import Local, open_site
from sanderling.workers.migrant.site_walk import Walk

IDLE_SECONDS = 300.0  # a guest that says nothing for so long is shown out
SILENT_SECONDS = 10.0  # and so is one who has not sent a good letter yet
CALLERS = 8  # connections for each guest there may be; for more, strangers are shown out
AHEAD = 256  # messages found and not yet packed
LENGTH = re.compile(r"[0-9]{1,15}")
PORT, LAST_PORT = re.compile(r"[0-9]{1,5}"), 65535
STATUS = {Refusal.TOO_LARGE: 413, Refusal.UNREADABLE: 400, Refusal.TRUNCATED: 400, Refusal.BUSY: 503}


class Refused(Exception):
    """A letter is not obeyed."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why)
        self.why = why


class Service(ThreadingHTTPServer):
    """Listens for guests."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, owner: Owner, folder: Path, clock: Clock = real) -> None:
        self.owner = owner
        self.senders_file = folder / owner.senders
        self.clock = clock
        self.dates = Dates(folder / "letters.json")
        self.nonces = Nonces(clock(), self.dates.latest)
        self.memories = Memories(folder / "memories")
        self.gates = {site.site: Gate(site, clock) for site in owner.site}
        self.checking = threading.Lock()
        self.guests = threading.BoundedSemaphore(owner.guests)
        self.packing = Packing(self.gates)
        self.door = Door(CALLERS * owner.guests)
        host, _, port = owner.listen.rpartition(":")
        if not PORT.fullmatch(port) or int(port) > LAST_PORT:
            raise UsageError(f"listen = {owner.listen!r}: write an address and a port, 0.0.0.0:8443")
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        context = _secured(owner, folder)
        try:
            super().__init__((host.strip("[]"), int(port)), Guest)
        except OSError as error:
            raise UsageError(f"cannot listen on {owner.listen}: {error.strerror}") from None
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Let nobody fill the house by standing in the door."""
        return self.door.enter(request, str(client_address[0]))

    def shutdown_request(self, request: Any) -> None:
        """See a caller out."""
        self.door.leave(request)
        super().shutdown_request(request)

    def handle_error(self, *_: Any) -> None:
        """A guest that leaves in the middle is no news."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"sanderling host: {error!r}", file=sys.stderr, flush=True)

    def open_letter(self, body: bytes, signer: str, signature: str, unpacker: Unpacker) -> Letter:
        """Read a letter, or refuse it: first who sent it, then what it is, then whether the owner allows it."""
        if signer not in read_senders(self.senders_file):
            raise Refused(Refusal.UNKNOWN_SENDER)
        if not is_signed(signer, signature, body):
            raise Refused(Refusal.BAD_SIGNATURE)
        try:
            (message,) = unpacker.unpack(body)
            letter = msgspec.msgpack.decode(message, type=Letter)
        except (ValueError, msgspec.DecodeError):
            raise Refused(Refusal.UNREADABLE) from None
        with self.checking:
            why = refusal(letter, signer, self.owner, self.nonces, self.clock())
            if why is None:
                self.dates.note(letter)
        if why is not None:
            raise Refused(why)
        return letter


def _secured(owner: Owner, folder: Path) -> ssl.SSLContext | None:
    """What the service speaks TLS with; None: it does not."""
    if not owner.certificate:
        if owner.private_key:
            raise UsageError("there is a private_key without a certificate")
        return None
    certificate, key = folder / owner.certificate, folder / (owner.private_key or owner.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        for file in (certificate, key):
            file.read_bytes()
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise UsageError(f"{certificate} and {key} are no certificate with its key: {error.reason}") from None
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    return context


class Guest(BaseHTTPRequestHandler):
    """One connection: letters in, messages out, one compressed stream each way."""

    protocol_version = "HTTP/1.1"
    timeout = SILENT_SECONDS
    disable_nagle_algorithm = True  # an answer is several writes: none is to wait until the last was acknowledged
    server: Service

    def setup(self) -> None:
        """Begin both streams."""
        super().setup()
        self.packer: Packer | None = None
        self.said = b""  # by an answer in prose, for the next stream to refer to
        self.is_first = False  # nothing was remembered, so this answer is to be
        self.unpacker = Unpacker(self.server.owner.max_letter)
        self.open: dict[tuple[str, str, bool], Local] = {}  # robots.txt is read once for all letters of a guest

    def finish(self) -> None:
        """Close what was opened for this guest."""
        super().finish()
        for local in self.open.values():
            local.close()

    def do_GET(self) -> None:
        """Say who is here."""
        self._say(200, {"name": self.server.owner.name, "sites": [site.site for site in self.server.owner.site]})

    def do_POST(self) -> None:
        """Obey one letter, or say why not."""
        try:
            letter = self._letter()
        except Refused as refused:
            return self._refuse(refused.why)
        self.server.door.welcome(self.request)
        self.connection.settimeout(IDLE_SECONDS)
        if not self.server.guests.acquire(blocking=False):  # only now: a stranger takes nobody's place
            return self._refuse(Refusal.BUSY)
        try:
            self.log_message("obeyed letter from %s for %s", letter.sender[:12], letter.site)
            return self._obey(letter)
        finally:
            self.server.guests.release()

    def _letter(self) -> Letter:
        length = self.headers.get("Content-Length", "")
        if self.path != PATH or not LENGTH.fullmatch(length):
            raise Refused(Refusal.UNREADABLE)
        if int(length) > self.server.owner.max_letter:
            raise Refused(Refusal.TOO_LARGE)
        try:
            body = self.rfile.read(int(length))
        except OSError:
            body = b""
        if len(body) < int(length):
            raise Refused(Refusal.TRUNCATED)
        signer, signature = self.headers.get(KEY_HEADER, ""), self.headers.get(SIGNATURE_HEADER, "")
        return self.server.open_letter(body, signer, signature, self.unpacker)

    def _obey(self, letter: Letter) -> None:
        site = site_of(letter, self.server.owner)
        assert site is not None, "the letter was checked"
        self.send_response(200)
        self.send_header("Content-Type", MEDIA_TYPE)
        self.send_header("Transfer-Encoding", "chunked")
        packer = self._packer(letter, site)
        self.end_headers()
        way = (site.site, letter.agent, letter.brief is not None)
        if way not in self.open:
            self.open[way] = open_site(site, letter.agent, letter.brief is not None)
        self._stream(Walk(letter, self.server.gates[site.site], self.open[way]), packer)
        if isinstance(packer, prose.ProsePacker):
            self.said = bytes(packer.said)
        if self.is_first:
            self.server.memories.keep(bytes(packer.said))
            self.is_first = False
        self.wfile.write(b"0\r\n\r\n")

    def _packer(self, letter: Letter, site: Site) -> Packer | prose.ProsePacker:
        """The stream of this connection; the first answer says which memory it begins with, or that it is prose."""
        if self.packer is None and not self.said:
            memory = self.server.memories.find(letter.memory)
            self.is_first = not memory
            if memory:
                self.send_header(MEMORY_HEADER, letter.memory)
            elif self._is_prose(letter, site):
                self.send_header(CODING_HEADER, prose.NAME)
                return prose.ProsePacker()
            self.packer = Packer(memory)
        self.packer = self.packer or Packer(self.said)  # most guests write one letter: nothing is made for a second
        return self.packer

    def _is_prose(self, letter: Letter, site: Site) -> bool:
        able = letter.whole and prose.NAME in letter.codings and not letter.watch_seconds and prose.is_here()
        return able and self.server.packing.is_small(site, letter)

    def _stream(self, walk: Walk, packer: Packer | prose.ProsePacker) -> None:
        """Walk on while what was found is packed and sent: neither waits for the other unless it is far ahead."""
        found: queue.Queue[Message | None] = queue.Queue(AHEAD)
        sender = Sender(found, packer, self._chunk)
        sender.start()
        try:
            for message in walk.messages():
                found.put(message)
                if sender.error is not None:
                    break
        finally:
            found.put(None)
            sender.join()
            packer.close()
        if sender.error is not None:
            raise sender.error

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _refuse(self, why: Refusal) -> None:
        self.close_connection = True
        self.log_message("refused a letter: %s", why.value)
        self._say(STATUS.get(why, 403), {"refused": why.value})

    def _say(self, status: int, answer: dict[str, object]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Short: it is sent with every answer."""
        return "sanderling"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Letters are logged when they are read."""

    def log_message(self, format: str, *args: Any) -> None:
        """One line to standard error."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.server.clock()))
        print(f"{stamp} {self.client_address[0]} {format % args}", file=sys.stderr, flush=True)
