"""How its last letter was dated, of each sender: kept on the disk, so that a host started again knows older letters.

A clock may be ahead of ours, so that a letter that was obeyed is dated after the moment at which we begin again.
"""

from pathlib import Path

import msgspec

from sanderling.engines.hosts.letter import Letter
from sanderling.engines.hosts.memory import write


class Dates:
    """The dates of the last letters, in one small file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.latest = _read(file)

    def note(self, letter: Letter) -> None:
        """Remember a letter that is obeyed. A full disk costs only that."""
        if letter.issued <= self.latest.get(letter.sender, 0.0):
            return
        self.latest[letter.sender] = letter.issued
        try:
            write(self.file, msgspec.json.encode(self.latest))
        except OSError:
            return


def _read(file: Path) -> dict[str, float]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.DecodeError):
        return {}
