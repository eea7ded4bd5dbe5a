"""Write the output of a benchmark into a document, between its two markers, with the date."""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

DOCUMENT = Path("docs/measurements/benchmarks.md")


class Tee(io.TextIOBase):
    """Prints and records its output."""

    def __init__(self, screen: TextIO) -> None:
        self.screen = screen
        self.text = ""

    def write(self, text: str) -> int:
        """Print and record the text."""
        self.text += text
        self.screen.write(text)
        self.screen.flush()
        return len(text)


@contextmanager
def written(name: str, is_written: bool) -> Iterator[None]:
    """Write the output of the block between the markers of this name, if requested."""
    tee = Tee(sys.stdout)
    with redirect_stdout(tee):
        yield
    if is_written:
        put(name, tee.text.strip())


def put(name: str, text: str, document: Path = DOCUMENT) -> None:
    """Replace the text between the markers of this name; it begins with the date of the measurement."""
    whole = document.read_text()
    marks = re.compile(rf"(<!-- {re.escape(name)}: [^>]*-->\n).*?(<!-- end of {re.escape(name)} -->)", re.DOTALL)
    if not marks.search(whole):
        raise SystemExit(f"{document} has no marks for {name}")
    document.write_text(
        marks.sub(lambda found: f"{found[1]}\nMeasured {datetime.now(UTC):%Y-%m-%d}.\n\n{text}\n\n{found[2]}", whole)
    )
