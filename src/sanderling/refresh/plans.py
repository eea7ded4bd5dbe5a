"""What the pipeline tells the diary of a page it visited."""

from msgspec import Struct

from sanderling.refresh.sitemap import Hint


class Facts(Struct, frozen=True):
    """What is known of a page after a visit."""

    url: int
    site: str
    path: str
    now: float
    previous: float  # the visit before this one; 0 for a new page
    changed: bool  # what matters of it, not bytes
    visits: int = 1
    changes: int = 0
    missing: bool = False  # it answered 404 or 410
    modified: float = 0.0  # Last-Modified, if the server says
    size: int = 0
    hint: Hint | None = None
