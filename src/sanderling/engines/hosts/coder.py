"""PPMd in small steps: a stream of texts in, coded bytes out, and back. The library has three habits to live with.

It loses what does not fit its first buffer, so it is fed slice by slice. Its sign of an end means nothing, for long
repetitions look like one; fewer bytes than asked for is an end. And it crashes when it is asked again after that.

A host codes in a process of its own (`python -m` this module): texts in, coded bytes out, each behind its length.
"""

import signal
import struct
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

ORDER = 16
MODEL_BYTES = 256 * 2**20
SLICE = 2**14  # bytes coded at once, however badly
READ = 2**15  # bytes read at once: the library's first buffer
SWITCH_SECONDS = 0.0005  # it comes back to Python every few milliseconds, and must not wait as long for its turn
LENGTH = struct.Struct("!I")
BEHIND = 16  # coded bytes after a text that its reading may need: the coder is so far behind


def is_here() -> bool:
    """Can this side speak it? It comes with the extra `host`."""
    return find_spec("pyppmd") is not None


class Coder:
    """The writing side."""

    def __init__(self) -> None:
        import pyppmd

        sys.setswitchinterval(SWITCH_SECONDS)
        self.model: Any = pyppmd.Ppmd7Encoder(ORDER, MODEL_BYTES)

    def encode(self, text: bytes) -> bytes:
        """Code a text; its last bytes come with the next."""
        return b"".join([self.model.encode(text[at : at + SLICE]) for at in range(0, len(text), SLICE)])

    def end(self) -> bytes:
        """The last bytes of all."""
        tail: bytes = self.model.flush()
        return tail


class FarCoder:
    """The writing side in a process of its own: beside it, the next pages are fetched and prepared."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "sanderling.engines.hosts.coder"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None, "a pipe"
        assert self.process.stdout is not None, "a pipe"
        self.ask, self.answer = self.process.stdin, self.process.stdout

    def encode(self, text: bytes) -> bytes:
        """Code a text that is not empty; its last bytes come with the next."""
        with suppress(BrokenPipeError):  # then there is no answer either
            self.ask.write(LENGTH.pack(len(text)) + text)
            self.ask.flush()
        head = self.answer.read(LENGTH.size)
        if len(head) < LENGTH.size:
            raise OSError("the process that codes is gone")
        return self.answer.read(*LENGTH.unpack(head))

    def end(self) -> bytes:
        """The last bytes of all."""
        return self.encode(b"")

    def kill(self) -> None:
        """End the process; who waits for its answer gets an error."""
        self.process.kill()

    def close(self) -> None:
        """Leave nothing open; nobody may be waiting."""
        self.kill()
        for end in (self.ask, self.answer):
            with suppress(OSError):
                end.close()
        self.process.wait()


class Decoder:
    """The reading side."""

    def __init__(self) -> None:
        import pyppmd

        sys.setswitchinterval(SWITCH_SECONDS)
        self.model: Any = pyppmd.Ppmd7Decoder(ORDER, MODEL_BYTES)
        self.broken = False

    def decode(self, coded: bytes, length: int) -> bytes:
        """Read so many bytes; ValueError if they are not in it. Then it is never asked again."""
        if self.broken:
            raise ValueError("a stream that broke off")
        parts, left = list[bytes](), length
        try:
            while left and not self.broken:
                parts.append(self.model.decode(coded, min(left, READ)))
                self.broken = len(parts[-1]) < min(left, READ)
                coded, left = b"", left - len(parts[-1])
        except (SystemError, MemoryError) as error:  # how this library says that bytes are none of its own
            self.broken = True
            raise ValueError(f"no stream of text: {error}") from None
        if self.broken:
            raise ValueError("a text that ends early")
        return b"".join(parts)


def main() -> None:
    """Code texts until an empty one comes, or nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the host, who closes us
    ask, answer, coder = sys.stdin.buffer, sys.stdout.buffer, Coder()
    while len(head := ask.read(LENGTH.size)) == LENGTH.size:
        text = ask.read(*LENGTH.unpack(head))
        coded = coder.encode(text) if text else coder.end()
        answer.write(LENGTH.pack(len(coded)) + coded)
        answer.flush()
        if not text:
            break


if __name__ == "__main__":
    main()
