"""Find and replace the URLs of style sheets: `url()`, `@import`, and `image-set()`.

One pass over the tokens of CSS Syntax Level 3 that matter here, in linear time, without building a tree.
"""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

MAX_CSS_LENGTH = 5_000_000  # characters that are scanned
MAX_CSS_URLS = 2_000
IMPORT_RULES = frozenset({"@import"})
NAMING_RULES = frozenset({"@namespace", "@charset"})  # their strings and URLs are names

CSS_TOKEN = re.compile(
    r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"  # comment
    r"|\"(?P<double>(?:[^\"\\\n\r\f]++|\\[\s\S])*+)\"?"
    r"|'(?P<single>(?:[^'\\\n\r\f]++|\\[\s\S])*+)'?"
    r"|(?P<url>[uU][rR][lL]\([ \t\n\r\f]*+)(?P<bare>(?:[^\"'()\\ \t\n\r\f]++|\\[^\n\r\f])*+)"
    r"(?P<end>[ \t\n\r\f]*+\))?"
    r"|(?P<rule>@[a-zA-Z-]++)"
    r"|(?P<word>[a-zA-Z0-9_-]++)(?P<call>\()?"
    r"|(?P<mark>[();{}])"
)
CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\n\r\f])?|\r\n|([\s\S]))")
CSS_STRING_ESCAPES = str.maketrans({character: f"\\{ord(character):x} " for character in '\\"\n\r\f<'})
IMAGE_SETS = ("image-set(", "-webkit-image-set(")


class CssUrl(Struct, frozen=True):
    """A URL of a style sheet, and the place of its token, with quotes."""

    url: str
    start: int
    end: int


def find_css_urls(css: str) -> Iterator[CssUrl]:
    """Yield the URLs that a browser may load, in order; `data:` URLs and fragments are left out."""
    for count, found in enumerate(_scan_urls(css[:MAX_CSS_LENGTH])):
        if count >= MAX_CSS_URLS:
            return
        if found.url and not found.url.startswith(("#", "data:")):
            yield found


def rewrite_css_urls(css: str, rewrite: Callable[[str], str]) -> str:
    """Replace the URLs of a style sheet."""
    parts, end = [], 0
    for found in find_css_urls(css):
        parts += [css[end : found.start], '"', rewrite(found.url).translate(CSS_STRING_ESCAPES), '"']
        end = found.end
    return "".join([*parts, css[end:]])


def _scan_urls(css: str) -> Iterator[CssUrl]:
    rule = ""  # the at-rule whose prelude is being read
    functions: list[str] = []  # open parentheses
    for token in CSS_TOKEN.finditer(css):
        kind = token.lastgroup
        if kind in ("double", "single"):
            is_url = rule in IMPORT_RULES and not functions
            if is_url or (functions and functions[-1] in ("url(", *IMAGE_SETS) and rule not in NAMING_RULES):
                yield CssUrl(_unescape(token[kind]), *token.span())
                rule = "" if is_url else rule
        elif token["url"] is not None:
            if token["end"] is None and not token["bare"]:
                functions.append("url(")  # a quoted URL follows
            elif token["end"] is not None and rule not in NAMING_RULES:
                yield CssUrl(_unescape(token["bare"]), *token.span("bare"))
                rule = "" if rule in IMPORT_RULES else rule
        elif kind == "rule":
            rule = token["rule"].lower()
        elif token["call"] or token["mark"] == "(":
            functions.append((token["word"] or "").lower() + "(")
        elif token["mark"] == ")":
            functions[-1:] = []
        elif token["mark"] in (";", "{", "}"):
            rule = ""
            functions.clear()


def _unescape(text: str) -> str:
    return CSS_ESCAPE.sub(_decode_escape, text).strip() if "\\" in text else text.strip()


def _decode_escape(match: re.Match[str]) -> str:
    if match[1]:
        number = int(match[1], 16)
        return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "�"
    return "" if match[2] is None or match[2] in "\n\r\f" else match[2]
