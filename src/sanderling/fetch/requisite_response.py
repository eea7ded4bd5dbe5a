"""Read page requisites in the worker: which types are stored, and what a requisite needs itself."""

from collections.abc import Iterator

from sanderling.fetch.link_resolution import resolve_page_requisites, resolve_requisites
from sanderling.html.css_urls import find_css_urls
from sanderling.html.page_requisites import find_manifest_icons, find_module_imports
from sanderling.html.parser import is_html, parse_html
from sanderling.html.plain_text import decode_plain_text
from sanderling.models import FileRef

REQUISITE_CLASSES = frozenset({"", "audio", "font", "image", "model", "text", "video"})  # an undeclared type is stored
REQUISITE_TYPES = frozenset(
    f"application/{name}"
    for name in (
        "atom+xml", "dash+xml", "ecmascript", "font-sfnt", "font-woff", "font-woff2", "javascript", "json", "ld+json",
        "manifest+json", "octet-stream", "ogg", "pdf", "rss+xml", "vnd.apple.mpegurl", "vnd.ms-fontobject",
        "vnd.ms-opentype", "wasm", "x-font-opentype", "x-font-otf", "x-font-ttf", "x-font-truetype", "x-font-woff",
        "x-javascript", "x-mpegurl", "x-shockwave-flash", "x-web-app-manifest+json", "xhtml+xml", "xml", "xslt+xml",
    )
)  # fmt: skip
SCRIPT_TYPES = frozenset(
    {"text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript"}
)
MANIFEST_TYPES = frozenset({"application/manifest+json", "application/json", "application/x-web-app-manifest+json"})
MAX_DOCUMENT_BYTES = 5_000_000  # a larger frame or image is stored, but not parsed


def is_requisite_type(mime: str) -> bool:
    """Return whether a page can show or run this type; archives and installers are not stored."""
    return mime.partition("/")[0] in REQUISITE_CLASSES or mime in REQUISITE_TYPES


def find_nested_requisites(url: str, body: bytes, mime: str, charset: str) -> tuple[FileRef, ...]:
    """Return what a style sheet, frame, module, manifest, or SVG image needs."""
    if len(body) > MAX_DOCUMENT_BYTES:
        return ()
    if is_html(mime, body) or mime == "image/svg+xml":
        tree = parse_html(body, charset)
        return resolve_page_requisites(tree, tree.base_url(url), tree.encoding or "utf-8", needs_icon=False)
    return resolve_requisites(_find_urls(body, mime, charset), url)


def _find_urls(body: bytes, mime: str, charset: str) -> Iterator[str]:
    if mime == "text/css":
        yield from (found.url for found in find_css_urls(decode_plain_text(body, charset)))
    elif mime in SCRIPT_TYPES:
        yield from find_module_imports(decode_plain_text(body, charset))
    elif mime in MANIFEST_TYPES and b'"icons"' in body:
        yield from find_manifest_icons(body)
