"""When requests arrived at a server, by the clock of the kernel: threads of a busy server notice them late."""

import socket
import struct
import threading
from typing import Self

SO_TIMESTAMPNS = 35
ETHERNET_BYTES = 14
ALL_PROTOCOLS = 3
PACKET_OUTGOING = 4


class RequestTimes:
    """Reads the packets of an interface, and records when each GET request to a port arrived. Needs root."""

    def __init__(self, port: int, interface: str = "lo") -> None:
        self.port = port
        self.times: list[float] = []
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_000_000)
        if interface != "any":
            self.sock.bind((interface, 0))
        self.sock.settimeout(0.2)
        self.is_done = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self.is_done:
            try:
                packet, ancillary, _, address = self.sock.recvmsg(2048, 64)
            except TimeoutError:
                continue
            if address[2] != PACKET_OUTGOING and self._is_request(packet[ETHERNET_BYTES:]):
                seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
                self.times.append(seconds + nanoseconds / 1e9)

    def _is_request(self, packet: bytes) -> bool:
        if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
            return False
        segment = packet[(packet[0] & 15) * 4 :]
        return int.from_bytes(segment[2:4], "big") == self.port and segment[(segment[12] >> 4) * 4 :][:4] == b"GET "

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_done = True
        self.thread.join()
        self.sock.close()
