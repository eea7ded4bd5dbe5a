"""What a page uses and does not contain: an image, script or style sheet replaced under its URL (IPC, future work).

The page itself is the same to the byte then.
"""

from enum import StrEnum

from msgspec import Struct


class ResourceType(StrEnum):
    """What a page uses a resource for."""

    IMAGE = "image"
    SCRIPT = "script"
    STYLE = "style"


class ResourceChange(Struct, frozen=True, omit_defaults=True):
    """A resource that a crawl found replaced under its URL."""

    url: str
    resource_type: ResourceType
    amount: float | None = None  # for images, from 0 (the same to the eye) to 1; None if nobody can say


def get_resource_type(mime: str) -> ResourceType | None:
    """Say from its media type what a resource is for; None for what changes nothing one sees."""
    if mime.startswith("image/"):
        return ResourceType.IMAGE
    if mime.endswith(("javascript", "ecmascript")):
        return ResourceType.SCRIPT
    return ResourceType.STYLE if mime == "text/css" else None
