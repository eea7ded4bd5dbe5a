"""The other side of the wire: runs on a site's own server and says what changed since LAST_VISIT.

Requests come in (through the middleware, or from the access log) and files (from the document root); views, changes
and deletions go to one SQLite file; lists go out, in sitemap XML:

    /sitemap.xml                  all pages, with live priorities
    /changes.xml?LAST_VISIT=TIME  what changed after, highest priority first, deletions last

A page is listed once it was served to somebody without a password or cookie, and not while robots.txt forbids it.
Needs nothing but the standard library, so that a site can install it alone: `python -m sanderling.publisher`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sanderling.publisher.asgi import AsgiPublisher
    from sanderling.publisher.published_site import PublishedSite
    from sanderling.publisher.recorder import RequestRecorder
    from sanderling.publisher.wsgi import WsgiPublisher

__all__ = ["AsgiPublisher", "PublishedSite", "RequestRecorder", "WsgiPublisher"]

LAZY_EXPORTS = {
    "AsgiPublisher": "asgi",
    "RequestRecorder": "recorder",
    "PublishedSite": "published_site",
    "WsgiPublisher": "wsgi",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for: a crawler that reads lists needs no server."""
    if name not in LAZY_EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LAZY_EXPORTS[name]}"), name)
