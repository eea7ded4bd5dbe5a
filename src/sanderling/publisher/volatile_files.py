"""Volatile parts of a page in a small side file (TVI, SAR-8), so that a crawler fetches a price without the page.

An author marks what changes often, and names the side file:

    <link rel="tvi" href="shares.tvi"> ... <!--Vol#price-->12.50<!--/Vol#price-->

The side file (same name, ending .tvi) is a JSON object from name to text. The crawler's half is revisit/tvi.py.
"""

import json
import os
import re
import tempfile
from pathlib import Path

MARKER_PATTERN = re.compile(r"<(?:!--\s{0,4})?(/?)Vol#([A-Za-z0-9_.]{1,64})\s{0,4}(?:--)?>", re.IGNORECASE)
MAX_PAGE_LENGTH = 4 << 20  # characters of a page; larger ones are left alone
TVI_SUFFIX = ".tvi"
TVI_MEDIA_TYPE = "application/json"


def extract_volatile_parts(page: str) -> dict[str, str]:
    """Give the volatile parts by name; a name used twice, not closed or within another says nothing sure."""
    found: dict[str, str] = {}
    unsure: set[str] = set()
    opened: re.Match[str] | None = None
    for mark in MARKER_PATTERN.finditer(page):
        if opened is not None and mark[1] and mark[2] == opened[2]:
            found[mark[2]] = page[opened.end() : mark.start()]
            opened = None
        elif opened is not None or mark[1]:
            unsure.add(mark[2])
        else:
            opened = mark
            if mark[2] in found:
                unsure.add(mark[2])
    return {name: text for name, text in found.items() if name not in unsure}


def build_tvi_file(page: str) -> str:
    """Write the side file of a page."""
    return json.dumps(extract_volatile_parts(page), ensure_ascii=False, sort_keys=True) + "\n"


def list_page_paths(tvi_path: str) -> list[str]:
    """Name the pages a side file may belong to, likeliest first."""
    stem = tvi_path.removesuffix(TVI_SUFFIX)
    folder = [stem.removesuffix("index")] if stem.endswith("/index") else []
    return [stem + ".html", stem + ".htm", *folder, stem]


def write_tvi_file(file: Path) -> bool:
    """Write the side file next to a page that has volatile parts; say if one was written."""
    page = _read_volatile_page(file)
    if page is None:
        return False
    target = file.with_suffix(TVI_SUFFIX)
    body = build_tvi_file(page)
    if target.is_file() and target.read_text(encoding="utf-8", errors="replace") == body:
        return False
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=TVI_SUFFIX)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as temporary:
        temporary.write(body)
    os.chmod(name, file.stat().st_mode & 0o777)
    os.replace(name, target)
    return True


def _read_volatile_page(file: Path) -> str | None:
    try:
        if file.stat().st_size > MAX_PAGE_LENGTH:
            return None
        page = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return page if extract_volatile_parts(page) else None
