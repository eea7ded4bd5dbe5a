"""Detect the encoding of a page from its Content-Type header or its first meta declaration.

HTML parsers prescan for the same declaration (WHATWG). This prescan gives up on any markup before the declaration that
parsers could read differently.
"""

import re
from functools import cache

from sanderling.html.encoding import get_standard_name

BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
PRESCAN_BYTES = 1024  # the declaration must be within these bytes (WHATWG prescan)

# The alternatives are mutually exclusive, so matching cannot backtrack exponentially. `_` stands for whitespace.
COMMENT_PATTERN = rb"<!--(?!-?>)(?:(?!--!?>).)*-->"
WORD_PATTERN = rb"""[^_<>"'=/]+"""
TAG_REST_PATTERN = rb"""(?:[_/]+%b(?:[_]*=[_]*(?:"[^<>"]*"|'[^<>']*'|%b))?)*[_/]*>""" % (
    WORD_PATTERN,
    WORD_PATTERN,
)
RAW_TEXT_TAGS = (b"title", b"script", b"style")  # their content is not markup
RAW_TEXT_PATTERN = b"|".join(rb"<%b%b[^<]*</%b>" % (name, TAG_REST_PATTERN, name) for name in RAW_TEXT_TAGS)
EXCLUDED_TAGS_PATTERN = rb"title|script|style|textarea|iframe|no[a-z]+|xmp|plaintext|template|[^<>]*charset"
TAG_PATTERN = rb"</?(?!%b)[a-z](?:%b)?%b" % (EXCLUDED_TAGS_PATTERN, WORD_PATTERN, TAG_REST_PATTERN)
PLAIN_MARKUP_PATTERN = rb"(?:[^<]|%b|%b|%b|<![a-z][^<>]*>|<\?[^<>]*>)*" % (
    COMMENT_PATTERN,
    RAW_TEXT_PATTERN,
    TAG_PATTERN,
)
ENCODING_NAME_PATTERN = rb"([a-z0-9-]{1,20})"
CHARSET_ATTRIBUTE_PATTERN = rb"""charset[_]*=[_]*(?:"%b"|'%b'|%b[_>])""" % (
    ENCODING_NAME_PATTERN,
    ENCODING_NAME_PATTERN,
    ENCODING_NAME_PATTERN,
)
HTTP_EQUIV_PATTERN = (
    rb"""http-equiv[_]*=[_]*(?:"content-type"|'content-type'|content-type)[_]+content[_]*=[_]*"""
    rb"""(?:"(?:(?!charset)[^"'<>]){0,60}charset=%b"|'(?:(?!charset)[^"'<>]){0,60}charset=%b')[_/]*>"""
) % (ENCODING_NAME_PATTERN, ENCODING_NAME_PATTERN)


@cache
def compile_meta_declaration() -> re.Pattern[bytes]:
    """Return the pattern of a page with a declaration. Compiling it takes milliseconds: not at import."""
    pattern = rb"%b<meta[_]+(?:%b|%b)" % (PLAIN_MARKUP_PATTERN, CHARSET_ATTRIBUTE_PATTERN, HTTP_EQUIV_PATTERN)
    return re.compile(pattern.replace(b"_", rb" \t\n\f\r"), re.IGNORECASE | re.DOTALL)


def find_declared_encoding(body: bytes, charset: str) -> str:
    """Return the declared ASCII-compatible encoding, or ""."""
    if body.startswith(BYTE_ORDER_MARKS):
        return ""
    if charset:
        return _get_ascii_compatible_name(charset)
    found = compile_meta_declaration().match(body, 0, PRESCAN_BYTES)
    return _get_ascii_compatible_name(next(filter(None, found.groups())).decode()) if found is not None else ""


def _get_ascii_compatible_name(charset: str) -> str:
    name = get_standard_name(charset)
    return name if name == "UTF-8" or name.startswith(("windows-", "ISO-8859-", "KOI8-")) else ""
