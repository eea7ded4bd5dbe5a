"""The synthetic web over HTTP: many hosts on loopback addresses, pages generated on request.

python -m benchmarks.lib.synthetic_web --hosts 16 --port 8090
"""

import argparse
import asyncio

from benchmarks.lib.synthetic_graph import Web, page_at

FILLER = b"<p>" + b"The quick brown fox jumps over the lazy dog. " * 20 + b"</p>\n"


class Speaker(asyncio.Protocol):
    """HTTP connection with keep-alive and pipelining."""

    def __init__(self, web: Web, filler: bytes) -> None:
        self._web = web
        self._filler = filler
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._host = int(transport.get_extra_info("sockname")[0].rpartition(".")[2])

    def data_received(self, data: bytes) -> None:
        """Answer every whole request."""
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self._transport.write(self._answer(head.split(b" ", 2)[1].decode("latin-1")))

    def _answer(self, path: str) -> bytes:
        try:
            number = page_at(path)
        except ValueError:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        links = "".join(f'<li><a href="{url}">{url[-24:]}</a></li>\n' for url in self._web.links(self._host, number))
        body = f"<!doctype html><title>Page {number}</title><ul>{links}</ul>".encode() + self._filler
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def serve(hosts: int, port: int, filler: bytes) -> None:
    web = Web(hosts, "http://127.0.0.{}:" + str(port))
    loop = asyncio.get_running_loop()
    for number in range(1, hosts + 1):
        await loop.create_server(lambda: Speaker(web, filler), f"127.0.0.{number}", port, backlog=512)
    print(f"listening on 127.0.0.1 to 127.0.0.{hosts}, port {port}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--size", type=int, default=10, help="paragraphs of text on a page, 900 bytes each")
    options = parser.parse_args()
    asyncio.run(serve(options.hosts, options.port, FILLER * options.size))


if __name__ == "__main__":
    main()
