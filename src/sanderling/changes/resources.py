"""What a page uses and does not contain: an image or script replaced under its old URL (IPC, future work).

The page itself is the same to the byte then. Validators or digests of the resources tell; for an image a perceptual
hash (difference hash, 64 bits) says how much it differs.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from sanderling.pages.look import SIDE, look

__all__ = ["Replaced", "Resource", "Sort", "Swap", "has_changed", "look", "replaced", "sort_of"]


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


class Resource(Struct, frozen=True):
    """What is known of one resource; empty or None for what is not."""

    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""
    look: int | None = None  # perceptual hash of an image


class Replaced(Struct, frozen=True):
    """A resource that is another one under the same URL."""

    url: str
    amount: float | None = None  # for images, from 0 (the same to the eye) to 1; None if nobody can say


def has_changed(old: Resource, new: Resource) -> bool:
    """Trust digests most, then validators; a weak ETag only says that it is as good as the same."""
    if old.digest and new.digest:
        return old.digest != new.digest
    if old.etag and new.etag:
        return old.etag.removeprefix("W/") != new.etag.removeprefix("W/")
    return bool(old.last_modified and new.last_modified and old.last_modified != new.last_modified)


def replaced(old: Mapping[str, Resource], new: Mapping[str, Resource]) -> list[Replaced]:
    """List the resources of a page that were replaced under their URLs."""
    return [
        Replaced(url, _amount(old[url], new[url]))
        for url in sorted(old.keys() & new.keys())
        if has_changed(old[url], new[url])
    ]


def _amount(old: Resource, new: Resource) -> float | None:
    if old.look is None or new.look is None:
        return None
    return (old.look ^ new.look).bit_count() / (SIDE * SIDE)
