"""A page cut into pieces, and what each of them says: of a page that changed a little, only a little is read again.

A page is cut where lines of markup begin, or at each `<div` and the like; a piece is some of these cuts. `facts` says
of one piece what a full mark would be made of: its lines of text, and a hash of all else that a mark sees. They are
read off the markup, without the tree; whether that gives what the tree gives is checked page by page (again.py).
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import accumulate, pairwise

from msgspec import Struct
from xxhash import xxh32_intdigest

from sanderling.pages import assets
from sanderling.pages.blocks import sounds_like_furniture
from sanderling.pages.stamps import reduce, steady
from sanderling.pages.text import squeeze

CUTS = (b"\n<", b"<div", b"<p", b"<li", b"<t")
WORTH = 384  # bytes of a piece that is worth a place in a table
OPENED = ((b"<script", b"</script"), (b"<!--", b"-->"), (b"<template", b"</template"), (b"<style", b"</style"))
WHOLE = ("script", "style", "template")
UP_TO = "|".join(rf"<{tag}\b[^<]*(?:<(?!/{tag})[^<]*)*</{tag}\s*>" for tag in WHOLE)
PART = re.compile(
    rf"(<!--[^-]*(?:-(?!->)[^-]*)*-->|{UP_TO}|</?[a-z](?:[^>\"']|\"[^\"]*\"|'[^']*')*>|<[!?][^>]*>)", re.IGNORECASE
)
TITLE = re.compile(r"<title\b.*?</title\s*>", re.DOTALL | re.IGNORECASE)  # the first; those of drawings are read
BLANKS = re.compile(r"[ \t\r\n\f]+")  # a no-break space is none
NAME = re.compile(r"</?([^\s/>]+)")
ATTRIBUTE = re.compile(r"([^\s=\"'>/]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+)))?")
BREAKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog", "dir",
     "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
     "head", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "noscript", "ol", "p", "pre",
     "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul")
)  # fmt: skip
VERBATIM = frozenset(("pre", "textarea"))
MAX_TAGS = 20_000  # remembered: a site uses the same ones on every page
MAX_TAG = 500  # characters of a tag worth remembering


class Facts(Struct, frozen=True):
    """What a piece of markup says."""

    lines: list[bytes]  # its text as in a mark: without blanks and stamps, none empty
    lengths: list[int]  # of each line, in letters, with blanks and stamps
    lost: bool  # a line was nothing but a stamp
    words: int  # a hash of its text with stamps
    frame: int  # a hash of all else that a mark sees
    inside: int  # how many verbatim elements are open at its end


class Tag(Struct, frozen=True, gc=False):
    """What a tag says, whatever is around it."""

    breaks: bool  # a line ends here
    verbatim: int  # 1 if text is kept as it is from here on, -1 if no longer
    seen: str  # what a mark sees of it


def best_cut(body: bytes) -> int:
    """Choose where to cut a page: the number in `CUTS` of the first that cuts it small, or else smallest."""
    counts = [body.count(mark) for mark in CUTS]
    fine = (number for number, count in enumerate(counts) if count * WORTH >= len(body))
    return next(fine, counts.index(max(counts)))


def group(cuts: list[bytes], mark: bytes) -> list[int]:
    """Say how many cuts of a page make a piece, each in turn: none ends inside a block, a script or a comment."""
    found: list[int] = []
    held: list[bytes] = []
    for part, following in zip(cuts, [*cuts[1:], b"br"], strict=True):
        held.append(part)
        if sum(map(len, held)) >= WORTH and _breaks(mark + following) and not _is_open(mark.join(held)):
            found.append(len(held))
            held = []
    return [*found, len(held)] if held else found


def _breaks(markup: bytes) -> bool:
    match = NAME.match(markup[:20].decode("latin-1").lstrip("\n"))
    return match is not None and match[1].lower() in BREAKS


def _is_open(piece: bytes) -> bool:
    return any(start in piece and piece.rfind(start) > piece.rfind(end) for start, end in OPENED)


def join(cuts: list[bytes], counts: Sequence[int], mark: bytes) -> list[bytes]:
    """Join the cuts of a page to pieces of so many each."""
    return [mark.join(cuts[start:end]) for start, end in pairwise(accumulate(counts, initial=0))]


def facts(piece: bytes, is_first: bool, inside: int, charset: str) -> Facts:
    """Read a piece; `inside` says how many verbatim elements are open where it begins."""
    text = piece.decode(charset, "replace")
    parts = PART.split(TITLE.sub("", text, count=1) if is_first else text)
    texts, tags = parts[::2], [_tags[part] if len(part) <= MAX_TAG else _read(part) for part in parts[1::2]]
    said, words = _Lines(), ""
    for part, tag in zip(texts, tags, strict=False):
        words += part
        if tag.breaks or tag.verbatim:
            if words:
                said.add(words, inside)
                words = ""
            inside = max(0, inside + tag.verbatim)
    said.add(words + texts[-1], inside)
    seen = "\n".join([tag.seen for tag in tags]) + "".join(map(_blankness, texts))
    return Facts(
        said.lines,
        said.lengths,
        said.lost,
        xxh32_intdigest(squeeze("".join(texts)).replace(b"\n", b"")),
        xxh32_intdigest(seen.encode("utf-8", "replace")),
        inside,
    )


def _blankness(text: str) -> str:
    """Say whether a text is empty, blank or neither: a tree may depend on it."""
    return "" if not text else " " if text.isspace() else "."


class _Lines:
    """The lines of text of a piece."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.lengths: list[int] = []
        self.lost = False

    def add(self, text: str, inside: int) -> None:
        """Read the text between two breaks."""
        if not text or text.isspace():
            return
        text = unescape(text) if "&" in text else text
        for line in text.split("\n") if inside else (BLANKS.sub(" ", text).strip(" "),):
            letters = squeeze(line if inside else reduce(line))
            if letters:
                self.lines.append(letters)
                self.lengths.append(len(line))
            else:
                self.lost |= not inside and bool(line)


class _Tags(dict[str, Tag]):
    """What tags say, remembered."""

    def __missing__(self, part: str) -> Tag:
        if len(self) >= MAX_TAGS:
            self.clear()
        tag = self[part] = _read(part)
        return tag


_tags = _Tags()


def _read(part: str) -> Tag:
    match = NAME.match(part)
    if match is None:  # a comment
        return Tag(False, 0, "")
    name = match[1].lower()
    if part[1] == "/":
        return Tag(name in BREAKS, -(name in VERBATIM), f"/{name}")
    end = part.find(">") if name in WHOLE else -1
    content = part[end + 1 : part.rfind("</")] if name in WHOLE else ""
    there = _attributes(part[match.end() : end])
    return Tag(name in BREAKS, int(name in VERBATIM), " ".join(_seen(name, there, content)))


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, one, two, three in ATTRIBUTE.findall(text):
        value = one or two or three
        found.setdefault(name.lower(), unescape(value) if "&" in value else value)
    return found


def _seen(name: str, there: dict[str, str], content: str) -> Iterator[str]:
    """Spell what a mark sees of a tag, and no more: neither values of fields nor tokens in references count."""
    yield name
    yield from (f"{kind}={there[kind]}" for kind in ("class", "style", "role", "hidden") if kind in there)
    yield from (f"{kind}={there[kind]}" for kind in assets.HANDLERS if there.get(kind))
    if sounds_like_furniture(there.get("id", "")):
        yield "apart"
    match name:
        case "a" if "href" in there:
            yield f"{assets.target_key(there['href'])} {assets.place_key(there['href'])}"
        case "img":
            yield f"{assets.picture(there.get)}"
        case "script":
            yield f"{assets.script(there.get, content)}"
        case "style" | "template":
            yield content
        case "link":
            yield f"{there.get('rel')} {steady(there.get('href', ''))}"
        case "form":
            yield f"{there.get('method')} {steady(there.get('action', ''))}"
        case "input" | "select" | "textarea":
            yield f"{there.get('name')}"
        case "iframe":
            yield steady(there.get("src", ""))
