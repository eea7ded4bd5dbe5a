"""PPMd in small steps: a stream of texts in, coded bytes out, and back. The library has three habits to live with.

It loses what does not fit its first buffer, so it is fed slice by slice. Its sign of an end means nothing, for long
repetitions look like one; fewer bytes than asked for is an end. And it crashes when it is asked again after that.

Either side is a process of its own (`python -m` this module): one step in, one answer out, each behind its length. So
what the library does to its process, it does to no crawler and no host.
"""

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from sanderling.runtime.isolation import build_python_command

ORDER = 12  # measured on documentation sites: 16 saves 0.5 to 1 % of the bytes in a tenth more time
MODEL_BYTES = 256 * 2**20
SLICE = 2**14  # bytes coded at once, however badly
READ = 2**15  # bytes read at once: the library's first buffer
SWITCH_SECONDS = 0.0005  # who waits for a step must have his turn soon: until then nothing is coded
LENGTH, STEP = struct.Struct("!I"), struct.Struct("!II")  # of an answer; of what is asked: its bytes, those to be read
Step = Callable[[bytes, int], bytes]
YIELD = 5  # steps of niceness: the web server beside which we code goes first
LARGE_PAGES = "glibc.malloc.hugetlb=1"  # a model is looked up all over its memory: a sixth of its time
BEHIND = 16  # coded bytes after a text that its reading may need: the coder is so far behind


def is_here() -> bool:
    """Can this side speak it? It comes with the extra `host`."""
    return find_spec("pyppmd") is not None


class Coder:
    """The writing side."""

    def __init__(self) -> None:
        import pyppmd

        self.model: Any = pyppmd.Ppmd7Encoder(ORDER, MODEL_BYTES)

    def encode(self, text: bytes) -> bytes:
        """Code a text; its last bytes come with the next."""
        return b"".join([self.model.encode(text[at : at + SLICE]) for at in range(0, len(text), SLICE)])

    def end(self) -> bytes:
        """The last bytes of all."""
        tail: bytes = self.model.flush()
        return tail


class Away:
    """A coder or a decoder in a process of its own."""

    def __init__(self, side: str) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        command = build_python_command("-m", "sanderling.workers.migrant.coder", side)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())
        assert self.process.stdin is not None, "a pipe"
        assert self.process.stdout is not None, "a pipe"
        self.ask, self.answer = self.process.stdin, self.process.stdout

    def step(self, content: bytes, length: int = 0) -> bytes:
        """Have one step done; OSError if there is nobody any more to do it."""
        with suppress(BrokenPipeError):  # then there is no answer either
            self.ask.write(STEP.pack(len(content), length) + content)
            self.ask.flush()
        head = self.answer.read(LENGTH.size)
        if len(head) < LENGTH.size:
            raise OSError("the process that codes is gone")
        return self.answer.read(*LENGTH.unpack(head))

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


class FarCoder(Away):
    """The writing side: beside it, the next pages are fetched and prepared."""

    def __init__(self) -> None:
        super().__init__("encode")

    def encode(self, text: bytes) -> bytes:
        """Code a text that is not empty; its last bytes come with the next."""
        return self.step(text)

    def end(self) -> bytes:
        """The last bytes of all."""
        return self.step(b"")


class FarDecoder(Away):
    """The reading side: beside it, texts are written out and pages looked at."""

    def __init__(self) -> None:
        super().__init__("decode")

    def decode(self, coded: bytes, length: int) -> bytes:
        """Read so many bytes; ValueError if they are not in it, or if it was the end of the process that reads."""
        try:
            text = self.step(coded, length)
        except OSError as error:
            raise ValueError(f"no stream of text: {error}") from None
        if len(text) < length:
            raise ValueError("no stream of text, or one that ends early")
        return text


class Decoder:
    """The reading side."""

    def __init__(self) -> None:
        import pyppmd

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


def _environment() -> dict[str, str]:
    """Ours, and that memory is to come in large pages where the system has them; others take no notice."""
    tunables = [*filter(None, [os.environ.get("GLIBC_TUNABLES")]), LARGE_PAGES]
    return {**os.environ, "GLIBC_TUNABLES": ":".join(tunables)}


def main(side: str) -> None:
    """Take steps until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for those who started us, and they close us
    ask, answer, step = sys.stdin.buffer, sys.stdout.buffer, STEPS[side]()
    while len(head := ask.read(STEP.size)) == STEP.size:
        size, length = STEP.unpack(head)
        done = step(ask.read(size), length)
        answer.write(LENGTH.pack(len(done)) + done)
        answer.flush()


def _encoding() -> Step:
    os.nice(YIELD)
    coder = Coder()
    return lambda text, _: coder.encode(text) if text else coder.end()


def _decoding() -> Step:
    decoder = Decoder()

    def step(coded: bytes, length: int) -> bytes:
        try:
            return decoder.decode(coded, length)
        except ValueError:
            return b""  # less than asked for

    return step


STEPS = {"encode": _encoding, "decode": _decoding}


if __name__ == "__main__":
    main(sys.argv[1])
