"""Which pages can be reached at all: a simple walk over the files, written without anything of ours.

Runs in the peers' environment (it uses lxml): python reachable.py ROOT > reachable.json
"""

import json
import sys
from collections import deque
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

LINKS = "//a/@href | //area/@href | //frame/@src | //iframe/@src"
BASE = "http://site.test/"


def reachable(root: Path) -> list[str]:
    """Follow links from /index.html; return the files that were reached."""
    start = "index.html"
    found, waiting = {start}, deque([start])
    while waiting:
        page = waiting.popleft()
        for target in targets(root, page):
            if target not in found and (root / target).is_file():
                found.add(target)
                waiting.append(target)
    return sorted(found)


def targets(root: Path, page: str) -> set[str]:
    """The pages of the same site that a page links to."""
    from lxml import html

    try:
        tree = html.fromstring((root / page).read_bytes())
    except (ValueError, html.etree.ParserError):
        return set()
    base = urljoin(BASE + page, next(iter(tree.xpath("//base/@href")), ""))
    return {file for link in set(tree.xpath(LINKS)) if (file := file_behind(base, link, root))}


def file_behind(base: str, link: str, root: Path) -> str:
    """Return the file that a link leads to, or ""."""
    try:
        url = urlsplit(urldefrag(urljoin(base, link.strip()))[0])
    except ValueError:
        return ""
    if url.scheme != "http" or url.netloc != "site.test":
        return ""
    path = unquote(url.path).lstrip("/")
    if (root / path).is_dir():
        path = f"{path.rstrip('/')}/index.html".lstrip("/")
    return path if path.endswith((".html", ".htm")) else ""


if __name__ == "__main__":
    json.dump(reachable(Path(sys.argv[1])), sys.stdout)
