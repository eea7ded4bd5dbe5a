"""A document reader: the text of a document, for search, `show`, `diff`, and extractors.

It runs in a child process that is killed after 20 seconds or at a gigabyte of memory.
"""

import io
import re
import zipfile
from html import unescape

MAX_CHAPTER_BYTES = 2_000_000
find_blocks = re.compile(r"</(?:p|h[1-6]|li|div|title)>|<br\b[^<>]*>").split
tag_pattern = re.compile(r"<[^<>]*>")


def read_epub(body: bytes) -> str:
    """Return the text of an e-book: its chapters, a paragraph per line."""
    lines: list[str] = []
    with zipfile.ZipFile(io.BytesIO(body)) as book:
        for name in sorted(name for name in book.namelist() if name.endswith((".xhtml", ".html", ".htm"))):
            with book.open(name) as chapter:
                markup = chapter.read(MAX_CHAPTER_BYTES).decode("utf-8", "replace")
            texts = (unescape(tag_pattern.sub("", block)) for block in find_blocks(markup))
            lines += [line for text in texts if (line := " ".join(text.split()))]
    return "\n".join(lines)
