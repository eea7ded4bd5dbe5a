"""Publish the changes of a web site since LAST_VISIT for crawlers, from the site's own server.

    /sitemap.xml                  all pages, with live priorities
    /changes.xml?LAST_VISIT=TIME  later changes, highest priority first, deletions last
A page is listed once it was served without password or cookie, unless robots.txt disallows it. Needs only the standard
library: `python -m sanderling.publisher`.
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
    """Import public names on first use."""
    if name not in LAZY_EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LAZY_EXPORTS[name]}"), name)
