"""A crawled page, made harmless: no script, no frame, no form target, nothing loaded from elsewhere.

Three walls, each enough alone: what could act is taken out of the page; the answer's own policy allows no script but
ours, by a nonce the page cannot know; and the sandbox gives it an origin of its own, so that nothing in it reaches the
app. Links are rewritten to stay within what is stored.
"""

import secrets
from html import escape
from urllib.parse import quote, urljoin

from sanderling.html.parser import Element, is_html, parse
from sanderling.html.plain_text import is_text, plain_text
from sanderling.web.view_models import Body

DROPPED = (
    "script", "noscript", "iframe", "frame", "frameset", "object", "embed", "applet", "base", "template", "portal",
    "fencedframe", "link", "meta", "dialog",
)  # fmt: skip
LINKS = ("href", "xlink:href")
SOURCES = ("src", "poster", "background")
ENDLESS = (
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
LARGEST = 8_000_000
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/x-icon", "image/bmp")
STYLES = ("text/css",)


def policy(nonce: str, *, scripts: bool) -> str:
    """The policy of a stored page: only our tracker may run, only stored things may load, its origin is its own."""
    script = f"script-src 'nonce-{nonce}'" if scripts else "script-src 'none'"
    sandbox = "sandbox allow-scripts" if scripts else "sandbox"
    return (
        f"{sandbox}; default-src 'none'; {script}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        " font-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    )


def new_nonce() -> str:
    """A number nobody can guess, used once."""
    return secrets.token_urlsafe(18)


def harmless(body: Body, nonce: str, *, scripts: bool) -> bytes:
    """Give a stored page as a page that can only be looked at."""
    if not is_html(body.mime, body.body):
        return _as_text(body, nonce, scripts=scripts)
    tree = parse(body.body[:LARGEST], body.charset)
    base = tree.base_url(body.url)
    styles = [_style(element, base, body.at) for element in tree.find_all("link")]
    for element in [element for name in DROPPED for element in tree.find_all(name)]:
        element.decompose()
    for element in tree.iter_elements():
        _clean(element, base, body.at)
    page = tree.root.html if tree.root is not None else ""
    return _with_head(page, "".join(filter(None, styles)), nonce, scripts=scripts).encode("utf-8", "replace")


def _with_head(page: str, styles: str, nonce: str, *, scripts: bool) -> str:
    # Ours comes first: nothing of the page stands before it that could swallow the nonce.
    ours = f'<script nonce="{nonce}" src="/static/inside.js"></script>' if scripts else ""
    return f'<!doctype html><meta charset="utf-8">{ours}{styles}{page}'


def _style(element: Element, base: str, at: float) -> str:
    if "stylesheet" not in (element.attr("rel") or "").lower() or not element.attr("href"):
        return ""
    return f'<link rel="stylesheet" href="{kept(urljoin_safely(base, element.attr("href") or ""), at)}">'


def _clean(element: Element, base: str, at: float) -> None:
    for name in list(element.attrs):
        lower = name.lower()
        value = element.attr(name) or ""
        if lower.startswith("on") or lower in ENDLESS:
            del element.attrs[name]
        elif lower in LINKS:
            element.attrs[name] = _link(element.tag, base, value, at)
        elif lower in SOURCES:
            element.attrs[name] = value if value.startswith("data:image/") else kept(urljoin_safely(base, value), at)


def _link(tag: str, base: str, value: str, at: float) -> str:
    if value.startswith("#"):
        return value
    target = urljoin_safely(base, value.strip())
    if not target.startswith(("http://", "https://")):
        return "#"
    return f"/stored?url={quote(target, safe='')}&at={at:.0f}" if tag in ("a", "area") else kept(target, at)


def kept(url: str, at: float) -> str:
    """Where the stored copy of an image or a style sheet is found, if there is one."""
    return f"/stored/part?url={quote(url, safe='')}&at={at:.0f}"


def urljoin_safely(base: str, value: str) -> str:
    """Join, and give nothing where that cannot be done."""
    try:
        return urljoin(base, value)
    except ValueError:
        return ""


def _as_text(body: Body, nonce: str, *, scripts: bool) -> bytes:
    if body.mime in IMAGES:
        page = f'<img alt="" src="{kept(body.url, body.at)}">'
    elif _is_written(body.mime) and is_text(body.body, body.charset):
        page = f"<pre>{escape(plain_text(body.body[:LARGEST], body.charset))}</pre>"
    else:
        page = f"<p>{escape(body.mime or 'a file')}, {len(body.body):,} bytes.</p>"
    return _with_head(page, "", nonce, scripts=scripts).encode("utf-8", "replace")


def _is_written(mime: str) -> bool:
    return mime.startswith("text/") or mime in ("application/json", "application/xml")


def is_part(mime: str) -> bool:
    """May this be served inside a stored page? Raster images and style sheets, nothing that could act."""
    return mime in IMAGES or mime in STYLES
