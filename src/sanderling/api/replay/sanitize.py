"""Make stored pages harmless.

Three defenses, each sufficient alone: active content is removed; the content security policy allows only our script;
the sandbox gives the page an opaque origin.
"""

import secrets
from html import escape
from urllib.parse import quote, urljoin

from sanderling.api.reports.view_models import StoredBody
from sanderling.html.parser import Element, is_html, parse_html
from sanderling.html.plain_text import decode_plain_text, is_text

REMOVED_TAGS = (
    "script", "noscript", "iframe", "frame", "frameset", "object", "embed", "applet", "base", "template", "portal",
    "fencedframe", "link", "meta", "dialog",
)  # fmt: skip
LINK_ATTRIBUTES = ("href", "xlink:href")
SOURCE_ATTRIBUTES = ("src", "poster", "background")
REMOVED_ATTRIBUTES = (
    "srcset",
    "ping",
    "formaction",
    "action",
    "nonce",
    "manifest",
    "srcdoc",
    "target",
    "autofocus",
    "imagesrcset",
)
TRACKER, PICKER = "inside.js", "pick.js"
MAX_PAGE_BYTES = 8_000_000
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/x-icon", "image/bmp")
STYLE_TYPES = ("text/css",)


def build_content_policy(nonce: str, *, allow_scripts: bool) -> str:
    """Allow only the tracker script and stored resources, in an opaque origin."""
    script = f"script-src 'nonce-{nonce}'" if allow_scripts else "script-src 'none'"
    sandbox = "sandbox allow-scripts" if allow_scripts else "sandbox"
    return (
        f"{sandbox}; default-src 'none'; {script}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        " font-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    )


def make_nonce() -> str:
    return secrets.token_urlsafe(18)


def sanitize_page(body: StoredBody, nonce: str, *, allow_scripts: bool, script: str = TRACKER) -> bytes:
    """Return a page without active content, except our script; other files as text or description."""
    if not is_html(body.mime, body.content):
        return _render_non_html(body, nonce, allow_scripts=allow_scripts)
    tree = parse_html(body.content[:MAX_PAGE_BYTES], body.charset)
    base = tree.base_url(body.url)
    styles = [_build_stylesheet_link(element, base, body.at) for element in tree.find_all("link")]
    for element in [element for name in REMOVED_TAGS for element in tree.find_all(name)]:
        element.decompose()
    for element in tree.iter_elements():
        _clean_attributes(element, base, body.at)
    page = tree.root.html if tree.root is not None else ""
    head = "".join(filter(None, styles))
    return _add_head(page, head, nonce, allow_scripts=allow_scripts, script=script).encode("utf-8", "replace")


def _add_head(page: str, styles: str, nonce: str, *, allow_scripts: bool, script: str = TRACKER) -> str:
    # First, so that no unclosed tag of the page can swallow the nonce.
    tracker = f'<script nonce="{nonce}" src="/static/{script}"></script>' if allow_scripts else ""
    return f'<!doctype html><meta charset="utf-8">{tracker}{styles}{page}'


def _build_stylesheet_link(element: Element, base: str, at: float) -> str:
    if "stylesheet" not in (element.attr("rel") or "").lower() or not element.attr("href"):
        return ""
    return f'<link rel="stylesheet" href="{build_resource_url(join_url(base, element.attr("href") or ""), at)}">'


def _clean_attributes(element: Element, base: str, at: float) -> None:
    for name in list(element.attrs):
        lower = name.lower()
        value = element.attr(name) or ""
        if lower.startswith("on") or lower in REMOVED_ATTRIBUTES:
            del element.attrs[name]
        elif lower in LINK_ATTRIBUTES:
            element.attrs[name] = _rewrite_link(element.tag, base, value, at)
        elif lower in SOURCE_ATTRIBUTES:
            element.attrs[name] = (
                value if value.startswith("data:image/") else build_resource_url(join_url(base, value), at)
            )


def _rewrite_link(tag: str, base: str, value: str, at: float) -> str:
    if value.startswith("#"):
        return value
    target = join_url(base, value.strip())
    if not target.startswith(("http://", "https://")):
        return "#"
    return (
        f"/stored?url={quote(target, safe='')}&at={at:.0f}" if tag in ("a", "area") else build_resource_url(target, at)
    )


def build_resource_url(url: str, at: float) -> str:
    return f"/stored/part?url={quote(url, safe='')}&at={at:.0f}"


def join_url(base: str, value: str) -> str:
    """Join URLs; empty if invalid."""
    try:
        return urljoin(base, value)
    except ValueError:
        return ""


def _render_non_html(body: StoredBody, nonce: str, *, allow_scripts: bool) -> bytes:
    if body.mime in IMAGE_TYPES:
        page = f'<img alt="" src="{build_resource_url(body.url, body.at)}">'
    elif _is_text_type(body.mime) and is_text(body.content, body.charset):
        page = f"<pre>{escape(decode_plain_text(body.content[:MAX_PAGE_BYTES], body.charset))}</pre>"
    else:
        page = f"<p>{escape(body.mime or 'unknown type')}, {len(body.content):,} bytes.</p>"
    return _add_head(page, "", nonce, allow_scripts=allow_scripts).encode("utf-8", "replace")


def _is_text_type(mime: str) -> bool:
    return mime.startswith("text/") or mime in ("application/json", "application/xml")


def is_embeddable(mime: str) -> bool:
    """Return whether a type may be embedded: raster images and stylesheets."""
    return mime in IMAGE_TYPES or mime in STYLE_TYPES
