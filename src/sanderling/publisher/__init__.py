"""Publish the changes of a web site since LAST_VISIT for crawlers, from the site's own server.

Requests (from the middleware or the access log) and files (from the document root) are recorded in a SQLite file, and
served as sitemap XML:

    /sitemap.xml                  all pages, with live priorities
    /changes.xml?LAST_VISIT=TIME  later changes, highest priority first, deletions last

A page is listed once it was served without password or cookie, unless robots.txt disallows it. This package needs
only the standard library, so that a site can install it alone: `python -m sanderling.publisher`.
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
    """Import public names on first use, because a crawler that reads lists needs no server."""
    if name not in LAZY_EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LAZY_EXPORTS[name]}"), name)
