"""The marks made of every page at crawl speed, from one reading of its text."""

from sanderling.pages.parse import Document
from sanderling.pages.signatures import text_mark
from sanderling.pages.simhash import simhash
from sanderling.pages.text import text


def marks(tree: Document) -> dict[str, bytes]:
    """Read the text once; mark it for near duplicates (`simhash`) and for the cheap test of changes (`signatures`)."""
    words = text(tree)
    return {"simhash": simhash(words).to_bytes(8, "big"), "signatures": text_mark(words)}
