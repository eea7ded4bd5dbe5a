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
_NAMED_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_CDATA = "<![CDATA["
_END_OF_COMMENT, _END_OF_INSTRUCTION = re.compile("-->"), re.compile(r"\?>")
_END_OF_DECLARATION, _END_OF_SUBSET, _END_OF_CDATA = re.compile(">"), re.compile(r"\]\s*>"), re.compile(r"\]\]>")
_LONGEST_END = 16
_ENTRY_STARTS = ("<url>", "<sitemap>")  # where it is worth asking for a whole entry
_MARKUP_START = re.compile(r"<(?=[^\W\d]|[/!?]|$)").search
_DOCTYPE_DELIMITER = re.compile(r"[\[>]")


class XmlHandler(Protocol):
    """Who listens to a Scanner."""

    def handle_start_tag(self, name: str, attributes_text: str) -> None:
        """Hear of a start tag: local name in lower case, the rest of the tag as written."""

    def handle_end_tag(self, name: str) -> None:
        """Hear of an end tag."""

    def handle_text(self, text: str) -> None:
        """Hear of text, with its entities still in it."""

    def handle_whole_entry(self, buffer: str, position: int) -> int:
        """Take several tags in one step; give the place behind them, or `at` to be told of each."""


class XmlScanner:
    """Cut text into tags and text; feed it in any pieces."""

    def __init__(self, handler: XmlHandler) -> None:
        self._handler = handler
        self._buffer = ""
        self._skip_end: re.Pattern[str] | None = None  # the end of what is being skipped
        self.tag_count = 0  # tags seen, and what only looks like one: a measure of the work done

    @property
    def is_inside_markup(self) -> bool:
        """Tell whether the text so far ends inside a tag, a comment or the like."""
        return bool(self._buffer or self._skip_end)

    def feed(self, text: str) -> None:
        """Scan as far as whole tags go; keep the rest for the next time."""
        buffer = self._buffer = self._buffer + text
        at, size = 0, len(buffer)
        while at < size:
            if self._skip_end:
                then = self._skip_to_end(at)
            elif buffer.startswith(_ENTRY_STARTS, at) and (then := self._handler.handle_whole_entry(buffer, at)) > at:
                pass
            elif found := _TAG(buffer, at):
                self._dispatch_tag(found)
                then = found.end()
            elif (mark := buffer.find("<", at)) != at:
                then = mark if mark > 0 else size
                self._handler.handle_text(buffer[at:then])
            else:
                then = self._handle_special(at)
            if then == at:
                break  # more text is needed
            at = then
        self._buffer = buffer[at:]

    def _dispatch_tag(self, found: re.Match[str]) -> None:
        self.tag_count += 1
        slash, name, rest = found.groups()
        if slash:
            self._handler.handle_end_tag(get_local_name(name))
        else:
            self._handler.handle_start_tag(get_local_name(name), rest)

    def _skip_to_end(self, position: int) -> int:
        """Go behind the end of what is skipped; short of it, leave what may be its first half."""
        assert self._skip_end is not None
        if found := self._skip_end.search(self._buffer, position):
            self._skip_end = None
            return found.end()
        return max(position, len(self._buffer) - _LONGEST_END)

    def _handle_special(self, position: int) -> int:
        """Handle a `<` that begins no whole tag; give the place to go on from, `at` itself to wait for more."""
        start = self._buffer[position : position + len(_CDATA)]
        if start == _CDATA:
            return self._handle_cdata(position)
        if start.startswith("<!--"):
            return self._start_skip(position + 4, _END_OF_COMMENT)
        if start.startswith("<?"):
            return self._start_skip(position + 2, _END_OF_INSTRUCTION)
        if start.lower() == "<!doctype":
            return self._skip_doctype(position)
        if any(whole.startswith(start.lower()) for whole in ("<!--", "<![cdata[", "<!doctype")):
            return position
        if start.startswith("<!"):
            return self._start_skip(position + 2, _END_OF_DECLARATION)
        return self._handle_unfinished_tag(position)

    def _start_skip(self, position: int, end: re.Pattern[str]) -> int:
        self._skip_end = end
        return position

    def _handle_cdata(self, position: int) -> int:
        end = self._buffer.find("]]>", position)
        if end >= 0:
            self._handler.handle_text(self._buffer[position + len(_CDATA) : end].replace("&", "&amp;"))
            return end + 3
        return position if self._can_wait(position) else self._start_skip(len(self._buffer), _END_OF_CDATA)

    def _skip_doctype(self, position: int) -> int:
        """Skip a document type with all it declares: no entity of it is ever used."""
        found = _DOCTYPE_DELIMITER.search(self._buffer, position)
        if found is None:
            return position if self._can_wait(position) else self._start_skip(len(self._buffer), _END_OF_DECLARATION)
        return found.end() if found[0] == ">" else self._start_skip(found.end(), _END_OF_SUBSET)

    def _handle_unfinished_tag(self, position: int) -> int:
        if self._buffer.find("<", position + 1) < 0 and self._can_wait(position):
            return position
        if found := _LOOSE_TAG(self._buffer, position):
            self._dispatch_tag(found)
            return found.end()
        self.tag_count += 1
        following = _MARKUP_START(self._buffer, position + 1)
        end = following.start() if following else len(self._buffer)
        self._handler.handle_text(self._buffer[position:end].replace("<", "&lt;"))
        return end

    def _can_wait(self, position: int) -> bool:
        return len(self._buffer) - position < MARKUP_LIMIT


@lru_cache(maxsize=4096)
def get_local_name(name: str) -> str:
    """Strip the prefix of a name and its case: both are often wrong."""
    return name.rpartition(":")[2].lower()


def parse_attributes(attributes_text: str) -> dict[str, str]:
    """Read the attributes of a tag, by local name."""
    found = (match.groups() for match in _ATTRIBUTE.finditer(attributes_text))
    return {get_local_name(name): unescape_xml(double or single or bare or "") for name, double, single, bare in found}


def unescape_xml(text: str) -> str:
    """Resolve the five entities of XML and character numbers; what else looks like an entity stays as it is."""
    return _ENTITY.sub(_decode_entity, text) if "&" in text else text


def _decode_entity(found: re.Match[str]) -> str:
    name, decimal, hexadecimal = found.groups()
    if name:
        return _NAMED_ENTITIES[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_character else "\ufffd"
