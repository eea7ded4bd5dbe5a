"""Lenient incremental XML scanner.

Namespaces are ignored. External entities and entity expansion are impossible.
"""

import re
from functools import lru_cache
from typing import Protocol

MARKUP_LIMIT = 64 * 1024  # characters of a tag or CDATA section; longer ones are skipped

# Possessive quantifiers prevent backtracking. `>` may occur inside quotes.
_TAG = re.compile(r"""<(/?)([^\W\d][\w.:\-]*+)([^<>"']*+(?:"[^"<]*+"[^<>"']*+|'[^'<]*+'[^<>"']*+)*+)>""").match
_LOOSE_TAG = re.compile(r"<(/?)([^\W\d][\w.:\-]*+)([^<>]*+)>").match  # with an unbalanced quote
# The lookbehind avoids retrying inside a name, which would take quadratic time.
_ATTRIBUTE = re.compile(r"""(?<![\w.:\-])([\w.:\-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_NAMED_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_CDATA = "<![CDATA["
_END_OF_COMMENT, _END_OF_INSTRUCTION = re.compile("-->"), re.compile(r"\?>")
_END_OF_DECLARATION, _END_OF_SUBSET, _END_OF_CDATA = re.compile(">"), re.compile(r"\]\s*>"), re.compile(r"\]\]>")
_LONGEST_END = 16
_ENTRY_STARTS = ("<url>", "<sitemap>")  # start tags at which the handler may parse a whole entry
_MARKUP_START = re.compile(r"<(?=[^\W\d]|[/!?]|$)").search
_DOCTYPE_DELIMITER = re.compile(r"[\[>]")


class XmlHandler(Protocol):
    """Receiver of the events of `XmlScanner`."""

    def handle_start_tag(self, name: str, attributes_text: str) -> None:
        """Handle a start tag: lower-case local name and unparsed attributes."""

    def handle_end_tag(self, name: str) -> None: ...

    def handle_text(self, text: str) -> None:
        """Handle character data with unresolved entities."""

    def handle_whole_entry(self, buffer: str, position: int) -> int:
        """Parse an entry and return its end, or return `position` to receive its tags."""


class XmlScanner:
    """Splits text into tags and character data."""

    def __init__(self, handler: XmlHandler) -> None:
        self._handler = handler
        self._buffer = ""
        self._skip_end: re.Pattern[str] | None = None  # end of the construct being skipped
        self.tag_count = 0  # tags and unfinished tags: a measure of the work done

    @property
    def is_inside_markup(self) -> bool:
        """Whether the text ends inside a tag, comment or declaration."""
        return bool(self._buffer or self._skip_end)

    def feed(self, text: str) -> None:
        """Scan all complete constructs and buffer the rest."""
        buffer = self._buffer = self._buffer + text
        start, size = 0, len(buffer)
        while start < size:
            if self._skip_end:
                end = self._skip_to_end(start)
            elif buffer.startswith(_ENTRY_STARTS, start) and (
                (end := self._handler.handle_whole_entry(buffer, start)) > start
            ):
                pass
            elif match := _TAG(buffer, start):
                self._dispatch_tag(match)
                end = match.end()
            elif (tag_start := buffer.find("<", start)) != start:
                end = tag_start if tag_start > 0 else size
                self._handler.handle_text(buffer[start:end])
            else:
                end = self._handle_special(start)
            if end == start:
                break  # more text is needed
            start = end
        self._buffer = buffer[start:]

    def _dispatch_tag(self, match: re.Match[str]) -> None:
        self.tag_count += 1
        slash, name, attributes_text = match.groups()
        if slash:
            self._handler.handle_end_tag(get_local_name(name))
        else:
            self._handler.handle_start_tag(get_local_name(name), attributes_text)

    def _skip_to_end(self, position: int) -> int:
        """Return the position after the skipped construct, or before a partial end marker."""
        assert self._skip_end is not None
        if match := self._skip_end.search(self._buffer, position):
            self._skip_end = None
            return match.end()
        return max(position, len(self._buffer) - _LONGEST_END)

    def _handle_special(self, position: int) -> int:
        """Return the position after a `<` without a complete tag; unchanged: wait for text."""
        start = self._buffer[position : position + len(_CDATA)]
        if start == _CDATA:
            return self._handle_cdata(position)
        if start.startswith("<!--"):
            return self._start_skip(position + 4, _END_OF_COMMENT)
        if start.startswith("<?"):
            return self._start_skip(position + 2, _END_OF_INSTRUCTION)
        if start.lower() == "<!doctype":
            return self._skip_doctype(position)
        if any(opening.startswith(start.lower()) for opening in ("<!--", "<![cdata[", "<!doctype")):
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
        """Skip a document type with its internal subset."""
        match = _DOCTYPE_DELIMITER.search(self._buffer, position)
        if match is None:
            return position if self._can_wait(position) else self._start_skip(len(self._buffer), _END_OF_DECLARATION)
        return match.end() if match[0] == ">" else self._start_skip(match.end(), _END_OF_SUBSET)

    def _handle_unfinished_tag(self, position: int) -> int:
        if self._buffer.find("<", position + 1) < 0 and self._can_wait(position):
            return position
        if match := _LOOSE_TAG(self._buffer, position):
            self._dispatch_tag(match)
            return match.end()
        self.tag_count += 1
        next_markup = _MARKUP_START(self._buffer, position + 1)
        end = next_markup.start() if next_markup else len(self._buffer)
        self._handler.handle_text(self._buffer[position:end].replace("<", "&lt;"))
        return end

    def _can_wait(self, position: int) -> bool:
        return len(self._buffer) - position < MARKUP_LIMIT


@lru_cache(maxsize=4096)
def get_local_name(name: str) -> str:
    """Return a lower-case name without prefix: case and prefix are often wrong."""
    return name.rpartition(":")[2].lower()


def parse_attributes(attributes_text: str) -> dict[str, str]:
    """Parse attributes by local name."""
    groups = (match.groups() for match in _ATTRIBUTE.finditer(attributes_text))
    return {get_local_name(name): unescape_xml(double or single or bare or "") for name, double, single, bare in groups}


def unescape_xml(text: str) -> str:
    """Resolve predefined entities and character references only."""
    return _ENTITY.sub(_decode_entity, text) if "&" in text else text


def _decode_entity(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name:
        return _NAMED_ENTITIES[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_character else "\ufffd"
