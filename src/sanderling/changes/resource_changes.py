"""What a page uses and does not contain: an image, script or style sheet replaced under its URL (IPC, future work).

The page itself is the same to the byte then.
"""

from enum import StrEnum

from msgspec import Struct


class Sort(StrEnum):
    """What a page uses a resource for."""

    IMAGE = "image"
    SCRIPT = "script"
    STYLE = "style"


class Swap(Struct, frozen=True, omit_defaults=True):
    """A resource that a crawl found replaced under its URL."""

    url: str
    sort: Sort
    amount: float | None = None  # for images, from 0 (the same to the eye) to 1; None if nobody can say


def sort_of(mime: str) -> Sort | None:
    """Say from its media type what a resource is for; None for what changes nothing one sees."""
    if mime.startswith("image/"):
        return Sort.IMAGE
    if mime.endswith(("javascript", "ecmascript")):
        return Sort.SCRIPT
    return Sort.STYLE if mime == "text/css" else None
