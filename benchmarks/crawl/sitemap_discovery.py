"""Measure which pages sitemaps add on a real site with unlinked pages.

To a documentation site pages are added that no link leads to: copies of every fifth page with words of their own. It is
crawled by links alone, then with the sitemap that names all pages. Aim: every page of the sitemap is found.

python -m benchmarks.crawl.sitemap_discovery [--site sqlite3-doc] [--share 0.2] [--data DIR] [--write]
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.lib.doc_sites import SITES, unpacked
from benchmarks.lib.doc_tables import put
from benchmarks.lib.nginx import serve
from benchmarks.revisit.second_crawl import sanderling, write_sitemap


def hide(pages: list[Path], share: float) -> list[Path]:
    """Add pages that nothing links to."""
    hidden = []
    for number, page in enumerate(pages[:: max(1, round(1 / share))]):
        copy = page.with_name(f"unlinked-{number}.html")
        words = f"<p>This is page {number} of those that nothing links to.</p></body>".encode()
        copy.write_bytes(page.read_bytes().replace(b"</body>", words, 1))
        hidden.append(copy)
    return hidden


def crawl_files(root: Path, url: str, folder: Path, *flags: str) -> set[Path]:
    """Crawl, and give the files that were found."""
    collection = ("-C", str(folder))
    sanderling("crawl", url + "index.html", *collection, "--allow-private", "--delay", "0", *flags)
    rows = sanderling("pages", *collection)
    return {root / str(row["url"]).removeprefix(url) for row in rows if row["status"] == 200}


def main() -> None:
    """Crawl twice and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", default="sqlite3-doc")
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    source = unpacked(options.data / "sites", options.site) / SITES[options.site]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "site"
        shutil.copytree(source, root, ignore_dangling_symlinks=True)
        named = sorted(root.rglob("*.html"))
        named += hide(named, options.share)
        with serve(root, Path(folder) / "nginx", "") as server:
            by_links = crawl_files(root, server.url, Path(folder) / "links", "--no-sitemaps") & set(named)
            write_sitemap(root, server.url, named)
            by_maps = crawl_files(root, server.url, Path(folder) / "maps") & set(named)
    text = "\n".join([
        f"{options.site}: {len(named):,} pages in the sitemap, {len(named) - len(by_links):,} of them without links.",
        "", "| method | pages found | of the sitemap |", "|---|---:|---:|",
        f"| links only | {len(by_links):,} | {len(by_links) / len(named):.1%} |",
        f"| links and sitemap | {len(by_maps):,} | {len(by_maps) / len(named):.1%} |",
        "", "Target: all pages of the sitemap are found "
        + ("(met)" if len(by_maps) == len(named) else "(NOT met)"),
    ])  # fmt: skip
    print(text)
    for page in sorted(set(named) - by_maps)[:5]:
        print(f"not found: {page}", file=sys.stderr)
    if options.write:
        put("discovery", text)


if __name__ == "__main__":
    main()
