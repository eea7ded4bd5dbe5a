"""Rewrite stored pages and style sheets, so that all their links and requisites lead into the archive."""

from html import escape

from sanderling.api.replay.replay_url import build_replay_path, join_url
from sanderling.html.css_urls import rewrite_css_urls
from sanderling.html.meta_refresh import parse_refresh_target
from sanderling.html.page_requisites import SOURCE_ATTRIBUTES, SRCSET_ATTRIBUTES, rewrite_srcset
from sanderling.html.parser import Document, Element, parse_html
from sanderling.html.plain_text import decode_plain_text

MAX_PAGE_BYTES = 8_000_000  # a larger page is cut off
FRAME_TAGS = frozenset({"iframe", "frame"})
LINK_TAGS = frozenset({"a", "area"})
REMOVED_ATTRIBUTES = frozenset({"integrity", "nonce", "crossorigin", "ping", "target", "formaction", "srcdoc"})
POLICY_NAMES = frozenset({"content-security-policy", "content-security-policy-report-only", "x-frame-options"})
FRAME, REQUISITE, STYLE_SHEET = "fr_", "im_", "cs_"


class PageRewriter:
    """Rewrites the URLs of a page captured at a time."""

    def __init__(self, base: str, at: float) -> None:
        self._base, self._at = base, at

    def rewrite(self, value: str, modifier: str) -> str:
        """Return the address in the archive. Fragments, `data:`, and invalid URLs stay as they are."""
        if not value.strip() or value.lstrip().startswith(("#", "data:")):
            return value
        joined = join_url(self._base, value)
        return build_replay_path(joined, self._at, modifier) if joined else "about:blank"

    def rewrite_style(self, css: str) -> str:
        return rewrite_css_urls(css, lambda url: self.rewrite(url, REQUISITE))

    def rewrite_element(self, element: Element) -> None:
        """Rewrite the attributes of an element."""
        tag, attributes = element.tag, element.attrs
        for name in list(attributes):
            lower, value = name.lower(), element.attr(name) or ""
            if lower in REMOVED_ATTRIBUTES:
                del attributes[name]
            elif lower == "style" and "(" in value:
                attributes[name] = self.rewrite_style(value)
            elif lower in SRCSET_ATTRIBUTES.get(tag, ()):
                attributes[name] = rewrite_srcset(value, lambda url: self.rewrite(url, REQUISITE))
            elif modifier := _find_modifier(tag, lower, element.attr("rel") or ""):
                attributes[name] = self.rewrite(value, modifier.strip())


def _find_modifier(tag: str, name: str, rel: str) -> str:
    """Return the modifier of a URL attribute; a space for a page, empty for other attributes."""
    if (tag in LINK_TAGS and name in ("href", "xlink:href")) or (tag == "form" and name == "action"):
        return " "
    if tag in FRAME_TAGS and name == "src":
        return FRAME
    if tag == "link" and name == "href":
        return STYLE_SHEET if "stylesheet" in rel.lower() else REQUISITE
    return REQUISITE if name in SOURCE_ATTRIBUTES.get(tag, ()) else ""


def rewrite_page(body: bytes, charset: str, url: str, at: float, banner: str = "") -> bytes:
    """Rewrite a page. The banner is HTML that is shown above it."""
    tree = parse_html(body[:MAX_PAGE_BYTES], charset)
    rewriter = PageRewriter(tree.base_url(url), at)
    _rewrite_head(tree, rewriter)
    for element in tree.iter_elements():
        if element.tag == "style":
            element.set_text(rewriter.rewrite_style(element.text))
        rewriter.rewrite_element(element)
    page = tree.root.html if tree.root is not None else ""
    doctype = "<!doctype html>" if b"<!doctype" in body[:1000].lower() else ""  # quirks mode stays quirks mode
    return f'{doctype}<meta charset="utf-8">{page or ""}{banner}'.encode("utf-8", "replace")


def _rewrite_head(tree: Document, rewriter: PageRewriter) -> None:
    for element in tree.find_all("base"):
        element.decompose()
    for element in tree.find_all("meta"):
        kind = (element.attr("http-equiv") or "").lower()
        if kind in POLICY_NAMES or element.attr("charset") or kind == "content-type":
            element.decompose()
        elif kind == "refresh":
            content = element.attr("content") or ""
            target = parse_refresh_target(content)
            delay = content.partition(";")[0].strip()
            element.attrs["content"] = f"{delay};url={rewriter.rewrite(target, '')}" if target else delay


def rewrite_style_sheet(body: bytes, charset: str, url: str, at: float) -> bytes:
    """Rewrite a style sheet, in UTF-8."""
    css = PageRewriter(url, at).rewrite_style(decode_plain_text(body, charset))
    return css.encode("utf-8", "replace")


def build_banner(url: str, captured: str, links: list[tuple[str, str]], marks: str = "") -> str:
    """Build the HTML of the banner: the URL, the time of the capture, links to other captures, and the time line."""
    style = (
        "all:initial;position:fixed;z-index:2147483647;bottom:0;left:0;right:0;padding:4px 10px;display:block;"
        "background:#222;color:#eee;font:13px sans-serif"
    )
    anchors = "".join(
        f' <a href="{escape(target)}" style="color:#9cf;font:13px sans-serif">{escape(text)}</a>'
        for text, target in links
    )
    text = f"{escape(url[:300])} as of {escape(captured)}{anchors}"
    return f'<div id="archive-banner" role="note" style="{style}">{text}{marks}</div>'
