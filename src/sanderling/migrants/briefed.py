"""Whether a migrant is specialised: only then is the STRUCT buffer, and what it needs, opened."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sanderling.migrants.brief import Buffer

FILE = "kept.db"


def open_buffer(folder: str) -> "Buffer | None":
    """The buffer of a migrant that carries briefs; None for all others."""
    if not folder:
        return None
    from sanderling.migrants.brief import Buffer

    return Buffer(folder)


def is_kept(folder: Path) -> bool:
    """Does anybody keep pages here?"""
    return (folder / FILE).exists()
