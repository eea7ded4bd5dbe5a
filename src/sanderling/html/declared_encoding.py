"""In what a page says it is written, where that is easily said: by its answer, or by the first of its tags.

A parser looks for such a tag before it reads the page (WHATWG, prescan). Here all before it has to be so plain that
nobody could read it otherwise.
"""

import re

from sanderling.html.encoding import standard_name

MARKS_OF_ORDER = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
PRESCAN = 1024  # bytes in which a page has to say its encoding

# Each piece can be read in one way only, so that no page is slow to read; `_` is written for blanks.
COMMENT = rb"<!--(?!-?>)(?:(?!--!?>).)*-->"
WORD = rb"""[^_<>"'=/]+"""
REST = rb"""(?:[_/]+%b(?:[_]*=[_]*(?:"[^<>"]*"|'[^<>']*'|%b))?)*[_/]*>""" % (WORD, WORD)  # of a tag
TEXTS = (b"title", b"script", b"style")  # in which there are no tags
TEXT = b"|".join(rb"<%b%b[^<]*</%b>" % (name, REST, name) for name in TEXTS)
OTHERS = rb"title|script|style|textarea|iframe|no[a-z]+|xmp|plaintext|template|[^<>]*charset"
TAG = rb"</?(?!%b)[a-z](?:%b)?%b" % (OTHERS, WORD, REST)
PLAIN = rb"(?:[^<]|%b|%b|%b|<![a-z][^<>]*>|<\?[^<>]*>)*" % (COMMENT, TEXT, TAG)
NAME = rb"([a-z0-9-]{1,20})"
ITSELF = rb"""charset[_]*=[_]*(?:"%b"|'%b'|%b[_>])""" % (NAME, NAME, NAME)
AS_HEADER = (
    rb"""http-equiv[_]*=[_]*(?:"content-type"|'content-type'|content-type)[_]+content[_]*=[_]*"""
    rb"""(?:"(?:(?!charset)[^"'<>]){0,60}charset=%b"|'(?:(?!charset)[^"'<>]){0,60}charset=%b')[_/]*>"""
) % (NAME, NAME)
META = re.compile(
    (rb"%b<meta[_]+(?:%b|%b)" % (PLAIN, ITSELF, AS_HEADER)).replace(b"_", rb" \t\n\f\r"), re.IGNORECASE | re.DOTALL
)


def encoding_of(body: bytes, charset: str) -> str:
    """Say in what a page is written, if that is easily said and ASCII is written the same in it; else nothing."""
    if body.startswith(MARKS_OF_ORDER):
        return ""
    if charset:
        return _named(charset)
    found = META.match(body, 0, PRESCAN)
    return _named(next(filter(None, found.groups())).decode()) if found is not None else ""


def _named(charset: str) -> str:
    """Name an encoding as the parser does; nothing if that does not know it, or letters are not written as in ASCII."""
    name = standard_name(charset)
    return name if name == "UTF-8" or name.startswith(("windows-", "ISO-8859-", "KOI8-")) else ""
