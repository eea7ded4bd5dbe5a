"""Images, scripts, and style sheets that were replaced under the same URL (IPC, future work)."""

from enum import StrEnum

from msgspec import Struct


class ResourceType(StrEnum):
    IMAGE = "image"
    SCRIPT = "script"
    STYLE = "style"


class ResourceChange(Struct, frozen=True, omit_defaults=True):
    """A replaced resource. Stored: `name` keeps the key of existing collections."""

    url: str
    resource_type: ResourceType
    amount: float | None = None  # of images, 0 (looks the same) to 1; None: unknown


def get_resource_type(mime: str) -> ResourceType | None:
    """Return the type for a media type; None if such a resource does not affect pages visibly."""
    if mime.startswith("image/"):
        return ResourceType.IMAGE
    if mime.endswith(("javascript", "ecmascript")):
        return ResourceType.SCRIPT
    return ResourceType.STYLE if mime == "text/css" else None
