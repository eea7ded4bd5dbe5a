"""Volatile parts of a page in a small side file (TVI, SAR-8), so that a crawler fetches a price without the page.

An author marks what changes often, and names the side file:

    <link rel="tvi" href="shares.tvi"> ... <!--vol price-->12.50<!--/vol-->

The side file (same name, ending .tvi) is JSON: the values by name, and a digest of all the rest. A crawler that holds
a copy with the same rest patches the values in; if the rest differs, it fetches the page.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

MARK = re.compile(r"<!--\s{0,4}(?:vol\s{1,4}([\w.-]{1,64})|(/vol))\s{0,4}-->", re.ASCII)
LARGEST = 4 << 20  # characters of a page or side file; larger ones are left alone
ENDING = ".tvi"
TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Part:
    """One volatile part: its name, and where its text lies."""

    name: str
    start: int
    end: int


def parts(page: str) -> Iterator[Part]:
    """Find the volatile parts in one pass; the second part of a name is called name#2, and so on."""
    used: dict[str, int] = {}
    opened: re.Match[str] | None = None
    for mark in MARK.finditer(page):
        if opened is None and mark[1]:
            opened = mark
        elif opened is not None and mark[2]:
            used[opened[1]] = number = used.get(opened[1], 0) + 1
            yield Part(opened[1] if number == 1 else f"{opened[1]}#{number}", opened.end(), mark.start())
            opened = None


def values(page: str) -> dict[str, str]:
    """Give the volatile parts by name."""
    return {part.name: page[part.start : part.end] for part in parts(page)}


def filled(page: str, texts: Mapping[str, str]) -> str:
    """Give the page with other texts in its volatile parts."""
    pieces, at = [], 0
    for part in parts(page):
        pieces += [page[at : part.start], texts[part.name]]
        at = part.end
    return "".join((*pieces, page[at:]))


def skeleton(page: str) -> str:
    """Give the digest of a page without its volatile parts."""
    rest = filled(page, dict.fromkeys(values(page), ""))
    return sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()


def side_file(page: str) -> str:
    """Write the side file of a page."""
    return json.dumps({"skeleton": skeleton(page), "values": values(page)}, ensure_ascii=False, sort_keys=True) + "\n"


def patch(page: str, side: str) -> str | None:
    """Put the values of a side file into a copy of the page; None if the page itself must be fetched."""
    told = _read(side)
    if told is None or told.get("skeleton") != skeleton(page):
        return None
    texts = told.get("values")
    if not isinstance(texts, dict) or set(texts) != set(values(page)):
        return None
    if any(not isinstance(text, str) or MARK.search(text) for text in texts.values()):
        return None  # a text with marks of its own would move the others
    return filled(page, texts)


def _read(side: str) -> dict[str, object] | None:
    try:
        told = json.loads(side[:LARGEST])
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def side_path(path: str, index: str = "index.html") -> str:
    """Name the side file of a page: /a/shares.html has /a/shares.tvi, a folder that of its index."""
    folder, slash, name = path.rpartition("/")
    stem = (name or index).rpartition(".")[0] or name
    return f"{folder}{slash}{stem}{ENDING}"


def page_paths(side: str) -> list[str]:
    """Name the pages a side file may belong to, likeliest first."""
    stem = side.removesuffix(ENDING)
    folder = [stem.removesuffix("index")] if stem.endswith("/index") else []
    return [stem + ".html", stem + ".htm", *folder, stem]


def write_beside(file: Path) -> bool:
    """Write the side file next to a page that has volatile parts; say if one was written."""
    page = _page_with_parts(file)
    if page is None:
        return False
    target = file.with_suffix(ENDING)
    body = side_file(page)
    if target.is_file() and target.read_text(encoding="utf-8", errors="replace") == body:
        return False
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=ENDING)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as temporary:
        temporary.write(body)
    os.chmod(name, file.stat().st_mode & 0o777)
    os.replace(name, target)
    return True


def _page_with_parts(file: Path) -> str | None:
    try:
        if file.stat().st_size > LARGEST:
            return None
        page = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return page if values(page) else None
