"""Write volatile parts of pages to .tvi files (TVI, SAR), so that crawlers fetch only a price.

An author marks volatile parts, and links the file:

    <link rel="tvi" href="shares.tvi"> ... <!--Vol#price-->12.50<!--/Vol#price-->

The file (same name, suffix .tvi) is a JSON object from name to text. The crawler side is revisit/tvi.py.
"""

import json
import os
import re
import tempfile
from pathlib import Path

MARKER_PATTERN = re.compile(r"<(?:!--\s{0,4})?(/?)Vol#([A-Za-z0-9_.]{1,64})\s{0,4}(?:--)?>", re.IGNORECASE)
MAX_PAGE_LENGTH = 4 << 20  # larger pages are ignored
TVI_SUFFIX = ".tvi"
TVI_MEDIA_TYPE = "application/json"


def extract_volatile_parts(page: str) -> dict[str, str]:
    """Return the volatile parts by name. Repeated, unclosed, and nested names are ignored."""
    parts: dict[str, str] = {}
    ambiguous: set[str] = set()
    opening: re.Match[str] | None = None
    for marker in MARKER_PATTERN.finditer(page):
        if opening is not None and marker[1] and marker[2] == opening[2]:
            parts[marker[2]] = page[opening.end() : marker.start()]
            opening = None
        elif opening is not None or marker[1]:
            ambiguous.add(marker[2])
        else:
            opening = marker
            if marker[2] in parts:
                ambiguous.add(marker[2])
    return {name: text for name, text in parts.items() if name not in ambiguous}


def build_tvi_file(page: str) -> str:
    return json.dumps(extract_volatile_parts(page), ensure_ascii=False, sort_keys=True) + "\n"


def list_page_paths(tvi_path: str) -> list[str]:
    """Return the pages that a .tvi file may belong to, most likely first."""
    stem = tvi_path.removesuffix(TVI_SUFFIX)
    folder = [stem.removesuffix("index")] if stem.endswith("/index") else []
    return [stem + ".html", stem + ".htm", *folder, stem]


def write_tvi_file(file: Path) -> bool:
    """Write the .tvi file of a page with volatile parts. Returns whether it changed."""
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
