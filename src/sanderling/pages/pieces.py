"""A page cut into pieces, so that of one that changed a little only a little is read again.

The content of scripts and style sheets is set aside. What is left is cut where lines of markup begin, or at each `<div`
and the like; some of these cuts make a piece. Of each piece two hashes are kept: its frame, of its tags without what a
mark never sees of them, and its words, of what stands between the tags. Equal frames in one order make equal trees but
for the words. A piece whose angle brackets do not come in pairs has no frame.
"""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct
from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.pages.assets import picture
from sanderling.pages.parse import Document

CUTS = (b"\n<", b"<div", b"<p", b"<li", b"<t")
SMALLEST = 768  # bytes of a piece
MOST = 60  # pieces of a page
SAMPLE = 8_192  # bytes of a page that say where to cut it
OPENING = re.compile(rb"<(script|style)\b([^>]*)>")
ENDS = {b"script": b"</script>", b"style": b"</style>"}
DRESS = (b"class", b"style", b"role", b"hidden", b" on")  # all that a mark sees of the tag of a script or style sheet
NOT_ANGLES = bytes(set(range(256)) - set(b"<>"))
SEEN = frozenset(
    (
        *(b"id", b"class", b"style", b"role", b"hidden", b"href", b"src", b"srcset", b"alt", b"width", b"height"),
        *(b"poster", b"rel", b"method", b"action", b"name", b"type", b"value", b"placeholder", b"checked", b"selected"),
        *(b"bgcolor", b"background", b"color", b"face", b"size", b"border", b"code", b"data", b"data-src"),
        *(b"data-original", b"data-lazy-src", b"data-srcset", b"d", b"xlink:href"),
    )
)  # attributes that a mark may see, of whichever tag; and all that begin with "on"
UNSEEN = re.compile(
    rb"\s(?:nonce|title|data-|aria-|integrity|js|for|content|id)|^(?:!--|meta|link|input|img)|/email-protection#",
    re.IGNORECASE,
).search  # tells tags that are worth reading: in others nothing is left out
ATTRIBUTE = re.compile(rb"([^\s=>\"'/]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]*))?")
MAILED = re.compile(rb"(/email-protection)#[0-9a-f]+")  # an address of mail, written anew each time
MAX_TAGS = 20_000  # remembered: a site uses the same ones on every page
MAX_TAG = 500  # bytes of a tag worth remembering


class Aside(Struct, frozen=True):
    """A page without the content of its scripts and style sheets."""

    markup: bytes
    script: int  # a hash of all scripts, tags too
    style: int  # a hash of all style sheets


class Facts(Struct, frozen=True, gc=False):
    """What a piece has."""

    frame: int  # a hash of its tags; 0 if it cannot be said for sure
    words: int  # a hash of what stands between them


def set_aside(body: bytes, tree: Document) -> Aside | None:
    """Take the content out of a page's scripts and style sheets; None if the tree has others than the markup says."""
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    kept, at = [], 0
    there: dict[bytes, list[bytes]] = {b"script": [], b"style": []}
    while found := OPENING.search(body, at):
        tag, start = found[1], found.end()
        ended = body.find(ENDS[tag], start)
        if ended < 0:
            return None
        kept.append(body[at : start if any(dress in found[2] for dress in DRESS) else found.start()])
        there[tag].append(body[found.start() if tag == b"script" else start : ended])
        at = ended + len(ENDS[tag])
    kept.append(body[at:])
    if any(len(tree.find_all(tag.decode())) != len(contents) for tag, contents in there.items()):
        return None
    script, style = (xxh3_64_intdigest(b"\0".join(contents)) for contents in there.values())
    return Aside(b"".join(kept), script, style)


def best_cut(markup: bytes) -> int:
    """Choose where to cut a page: the number in `CUTS` of the first that cuts it small, or else smallest."""
    start = len(markup) // 3
    sample = markup[start : start + SAMPLE]
    counts = [sample.count(mark) for mark in CUTS]
    fine = (number for number, count in enumerate(counts) if count * SMALLEST >= len(sample))
    return next(fine, counts.index(max(counts)))


def group(cuts: list[bytes]) -> list[int]:
    """Say how many cuts of a page make a piece, each in turn."""
    lengths = list(map(len, cuts))
    least = max(SMALLEST, sum(lengths) // MOST)
    found: list[int] = []
    count = size = 0
    for length in lengths:
        count, size = count + 1, size + length
        if size >= least:
            found.append(count)
            count = size = 0
    return [*found, count] if count else found


def join(cuts: list[bytes], counts: Sequence[int], mark: bytes) -> list[bytes]:
    """Join the cuts of a page to pieces of so many each; each but the first begins with the mark it was cut at."""
    pieces = [mark.join(cuts[start:end]) for start, end in pairwise(accumulate(counts, initial=0))]
    return [pieces[0], *[mark + piece for piece in pieces[1:]]]


def facts(piece: bytes) -> Facts:
    """Read a piece."""
    angles = piece.translate(None, NOT_ANGLES)
    parts = piece.replace(b">", b"<").split(b"<")
    words = xxh32_intdigest(b"<".join(parts[::2]))
    if angles != b"<>" * (len(angles) // 2):
        return Facts(0, words)
    return Facts(xxh32_intdigest(b"<".join(filter(None, map(_tags.__getitem__, parts[1::2])))) or 1, words)


class _Tags(dict[bytes, bytes]):
    """What a mark may see of a tag, remembered."""

    def __missing__(self, tag: bytes) -> bytes:
        seen = tag if UNSEEN(tag) is None else _seen(tag)
        if len(tag) <= MAX_TAG:
            if len(self) >= MAX_TAGS:
                self.clear()
            self[tag] = seen
        return seen


_tags = _Tags()
forget = _tags.clear


def _seen(tag: bytes) -> bytes:
    """Leave out of a tag what a mark never sees: comments, tokens, what is written for scripts alone."""
    if tag.startswith(b"!"):
        return b"" if tag.startswith(b"!--") and tag.endswith(b"--") else tag
    name, *rest = tag.split(None, 1)
    found = [(key.lower(), value) for key, value in ATTRIBUTE.findall(rest[0] if rest else b"")]
    small = name.lower()
    kept = [small, *(key + value for key, value in _told(small, found))]
    return b"" if kept in ([b"meta"], [b"link"]) else b" ".join(kept)


def _told(name: bytes, attributes: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Choose what tells of the attributes of a tag."""
    seen = [(key, value) for key, value in attributes if key in SEEN or key.startswith(b"on")]
    match name:
        case b"meta":
            return [(key, value) for key, value in seen if key in (b"class", b"style", b"role", b"hidden")]
        case b"link" if b"stylesheet" not in dict(seen).get(b"rel", b"").lower():
            return [(key, value) for key, value in seen if key in (b"class", b"style", b"role", b"hidden")]
        case b"input" if b"hidden" in dict(seen).get(b"type", b"").lower():
            return [(key, _spelled(name, key, value)) for key, value in seen if key != b"value"]
        case _:
            return [(key, _spelled(name, key, value)) for key, value in seen]


def _spelled(name: bytes, key: bytes, value: bytes) -> bytes:
    """Spell a value without what changes by itself; of an id only the letters say what it stands for."""
    if key == b"id":
        return value.translate(None, b"0123456789")
    if name == b"img" and key in (b"src", b"srcset"):
        return picture(value.strip(b"\"'").decode("latin-1")).encode("latin-1", "replace")
    return MAILED.sub(rb"\1", value) if b"/email-protection#" in value else value
