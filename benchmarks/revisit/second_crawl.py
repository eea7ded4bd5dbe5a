"""Measure the cost of finding all changes of a real site at the second visit.

A documentation site is crawled, 5 % of its pages are changed, and it is visited again: once with conditional requests
for all pages, once with a correct sitemap. The server compresses and sends validators. Bytes are counted on the wire
and compared with the uncompressed size of the site.

python -m benchmarks.revisit.second_crawl [--site python-django-doc] [--share 0.05] [--data DIR] [--write]
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen
from xml.sax.saxutils import escape

from benchmarks.lib.doc_sites import SITES, unpacked
from benchmarks.lib.doc_tables import written
from benchmarks.lib.nginx import serve
from msgspec import Struct

MARK = "between-the-visits"
GZIP = "gzip on; gzip_comp_level 6; gzip_types text/css text/javascript application/xml text/xml;"
WORDS = (
    b"<p>This sentence was not here when the site was crawled first; it is the change that must be found.</p></body>"
)


class Visit(Struct, frozen=True):
    """Result of one method."""

    name: str
    requests: int
    found: float  # share of the changed pages
    bodies_unchanged: int
    bytes: int


def sanderling(*arguments: str) -> list[dict[str, object]]:
    """Run a command. Returns the objects it prints."""
    run = [sys.executable, "-m", "sanderling", *arguments, "--json", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


def write_sitemap(root: Path, url: str, pages: list[Path]) -> None:
    """An honest sitemap of all pages, with the time each was last changed."""
    rows = []
    for page in pages:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(page.stat().st_mtime))
        rows.append(f"<url><loc>{escape(url + str(page.relative_to(root)))}</loc><lastmod>{stamp}</lastmod></url>")
    (root / "sitemap.xml").write_text(f"<urlset>{''.join(rows)}</urlset>")


def change(pages: list[Path], share: float) -> set[Path]:
    """Write something new on some pages; the others keep their validators."""
    chosen = set(random.Random(5).sample(pages, max(1, int(len(pages) * share))))
    for page in chosen:
        page.write_bytes(page.read_bytes().replace(b"</body>", WORDS, 1))
    return chosen


def come_back(name: str, source: Path, arguments: tuple[str, ...], share: float, with_map: bool) -> tuple[Visit, int]:
    """Crawl a site, change it, come back in this way; and the size of the site."""
    with tempfile.TemporaryDirectory() as folder:
        root, collection = Path(folder) / "site", ("-C", f"{folder}/collection")
        shutil.copytree(source, root, ignore_dangling_symlinks=True)
        pages = sorted(root.rglob("*.html"))
        for page in pages:
            os.utime(page, (time.time() - 86_400,) * 2)
        with serve(root, Path(folder) / "nginx", GZIP) as server:
            if with_map:
                write_sitemap(root, server.url, pages)
            sanderling("crawl", server.url + "index.html", *collection, "--allow-private", "--delay", "0", "--no-index")
            rows = sanderling("pages", *collection)
            held = {root / str(row["url"]).removeprefix(server.url) for row in rows}
            changed = change([page for page in pages if page in held], share)
            if with_map:
                write_sitemap(root, server.url, pages)
            with suppress(HTTPError):
                urlopen(server.url + MARK)
            summary = sanderling("refresh", *arguments, *collection)[-1]
            found = {str(row["url"]) for row in sanderling("changes", *collection)}
        log = [line.split(" ", 3) for line in server.log.read_text().splitlines()]
        second = log[1 + next(n for n, entry in enumerate(log) if entry[3].endswith(MARK)) :]
        sent = {root / entry[3].lstrip("/") for entry in second if entry[0] == "200" and entry[3].endswith(".html")}
        expected = {server.url + str(page.relative_to(root)) for page in changed}
        print(f"{name}: {len(expected)} changed, {len(found & expected)} of them found", file=sys.stderr)
        visit = Visit(
            name, len(second), len(found & expected) / len(expected), len(sent - changed), int(str(summary["bytes"]))
        )
        return visit, sum(int(str(row["bytes"])) for row in rows)


def main() -> None:
    """Measure both methods and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", default="python-django-doc")
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    root = unpacked(options.data / "sites", options.site) / SITES[options.site]
    lines = ["| command | requests | changes found | unchanged bodies sent | bytes | of the site |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for name, arguments, with_map in (
        ("`refresh --all`, conditional requests", ("--all", "--no-sitemaps"), False),
        ("`refresh`, correct sitemap", (), True),
    ):
        visit, size = come_back(name, root, arguments, options.share, with_map)
        lines.append(
            f"| {visit.name} | {visit.requests:,} | {visit.found:.1%} | {visit.bodies_unchanged:,} | {visit.bytes:,}"
            f" | {visit.bytes / size:.2%} |"
        )
        print(lines[-1], file=sys.stderr)
    text = f"{options.site}, {options.share:.0%} of the pages changed.\n\n" + "\n".join(lines)
    with written("revisit", options.write):
        print(text)


if __name__ == "__main__":
    main()
