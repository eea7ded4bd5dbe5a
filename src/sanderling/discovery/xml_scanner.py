"""A forgiving reader of XML as the web writes it: text in, in any cuts; tags and text out.

It knows nothing of namespaces and never resolves an entity beyond the five of XML and character numbers: there is no
file, no network and no expansion to be tricked into. Not well-formed input is read as far as it makes sense.
"""

import re
from functools import lru_cache
from typing import Protocol

MARKUP_LIMIT = 64 * 1024  # characters of one tag or CDATA section; longer ones are left out

# Possessive, so that no text takes more than one pass. `>` may stand inside quotes.
_TAG = re.compile(r"""<(/?)([^\W\d][\w.:\-]*+)([^<>"']*+(?:"[^"<]*+"[^<>"']*+|'[^'<]*+'[^<>"']*+)*+)>""").match
_LOOSE_TAG = re.compile(r"<(/?)([^\W\d][\w.:\-]*+)([^<>]*+)>").match  # a quote was forgotten
# A name starts where no other character of a name stands before it: inside of one nothing else could be found.
_ATTRIBUTE = re.compile(r"""(?<![\w.:\-])([\w.:\-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_CDATA = "<![CDATA["
_END_OF_COMMENT, _END_OF_INSTRUCTION = re.compile("-->"), re.compile(r"\?>")
_END_OF_DECLARATION, _END_OF_SUBSET, _END_OF_CDATA = re.compile(">"), re.compile(r"\]\s*>"), re.compile(r"\]\]>")
_LONGEST_END = 16
_WHOLE = ("<url>", "<sitemap>")  # where it is worth asking for a whole entry
_PLAUSIBLE = re.compile(r"<(?=[^\W\d]|[/!?]|$)").search
_SUBSET = re.compile(r"[\[>]")


class Handler(Protocol):
    """Who listens to a Scanner."""

    def opened(self, name: str, attributes: str) -> None:
        """Hear of a start tag: local name in lower case, the rest of the tag as written."""

    def closed(self, name: str) -> None:
        """Hear of an end tag."""

    def text(self, text: str) -> None:
        """Hear of text, with its entities still in it."""

    def whole(self, buffer: str, at: int) -> int:
        """Take several tags in one step; give the place behind them, or `at` to be told of each."""


class Scanner:
    """Cut text into tags and text; feed it in any pieces."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._buffer = ""
        self._until: re.Pattern[str] | None = None  # the end of what is being skipped
        self.steps = 0  # tags seen, and what only looks like one: a measure of the work done

    @property
    def is_inside(self) -> bool:
        """Tell whether the text so far ends inside a tag, a comment or the like."""
        return bool(self._buffer or self._until)

    def feed(self, text: str) -> None:
        """Scan as far as whole tags go; keep the rest for the next time."""
        buffer = self._buffer = self._buffer + text
        at, size = 0, len(buffer)
        while at < size:
            if self._until:
                then = self._skip(at)
            elif buffer.startswith(_WHOLE, at) and (then := self._handler.whole(buffer, at)) > at:
                pass
            elif found := _TAG(buffer, at):
                self._tell(found)
                then = found.end()
            elif (mark := buffer.find("<", at)) != at:
                then = mark if mark > 0 else size
                self._handler.text(buffer[at:then])
            else:
                then = self._special(at)
            if then == at:
                break  # more text is needed
            at = then
        self._buffer = buffer[at:]

    def _tell(self, found: re.Match[str]) -> None:
        self.steps += 1
        slash, name, rest = found.groups()
        if slash:
            self._handler.closed(local_name(name))
        else:
            self._handler.opened(local_name(name), rest)

    def _skip(self, at: int) -> int:
        """Go behind the end of what is skipped; short of it, leave what may be its first half."""
        assert self._until is not None
        if found := self._until.search(self._buffer, at):
            self._until = None
            return found.end()
        return max(at, len(self._buffer) - _LONGEST_END)

    def _special(self, at: int) -> int:
        """Handle a `<` that begins no whole tag; give the place to go on from, `at` itself to wait for more."""
        start = self._buffer[at : at + len(_CDATA)]
        if start == _CDATA:
            return self._character_data(at)
        if start.startswith("<!--"):
            return self._skip_from(at + 4, _END_OF_COMMENT)
        if start.startswith("<?"):
            return self._skip_from(at + 2, _END_OF_INSTRUCTION)
        if start.lower() == "<!doctype":
            return self._document_type(at)
        if any(whole.startswith(start.lower()) for whole in ("<!--", "<![cdata[", "<!doctype")):
            return at
        if start.startswith("<!"):
            return self._skip_from(at + 2, _END_OF_DECLARATION)
        return self._unfinished_tag(at)

    def _skip_from(self, at: int, end: re.Pattern[str]) -> int:
        self._until = end
        return at

    def _character_data(self, at: int) -> int:
        end = self._buffer.find("]]>", at)
        if end >= 0:
            self._handler.text(self._buffer[at + len(_CDATA) : end].replace("&", "&amp;"))
            return end + 3
        return at if self._may_wait(at) else self._skip_from(len(self._buffer), _END_OF_CDATA)

    def _document_type(self, at: int) -> int:
        """Skip a document type with all it declares: no entity of it is ever used."""
        found = _SUBSET.search(self._buffer, at)
        if found is None:
            return at if self._may_wait(at) else self._skip_from(len(self._buffer), _END_OF_DECLARATION)
        return found.end() if found[0] == ">" else self._skip_from(found.end(), _END_OF_SUBSET)

    def _unfinished_tag(self, at: int) -> int:
        if self._buffer.find("<", at + 1) < 0 and self._may_wait(at):
            return at
        if found := _LOOSE_TAG(self._buffer, at):
            self._tell(found)
            return found.end()
        self.steps += 1
        following = _PLAUSIBLE(self._buffer, at + 1)
        end = following.start() if following else len(self._buffer)
        self._handler.text(self._buffer[at:end].replace("<", "&lt;"))
        return end

    def _may_wait(self, at: int) -> bool:
        return len(self._buffer) - at < MARKUP_LIMIT


@lru_cache(maxsize=4096)
def local_name(name: str) -> str:
    """Strip the prefix of a name and its case: both are often wrong."""
    return name.rpartition(":")[2].lower()


def attributes(rest: str) -> dict[str, str]:
    """Read the attributes of a tag, by local name."""
    found = (match.groups() for match in _ATTRIBUTE.finditer(rest))
    return {local_name(name): unescape(double or single or bare or "") for name, double, single, bare in found}


def unescape(text: str) -> str:
    """Resolve the five entities of XML and character numbers; what else looks like an entity stays as it is."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    name, decimal, hexadecimal = found.groups()
    if name:
        return _NAMED[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_character else "\ufffd"
