"""Compare main-content extraction with trafilatura, readability-lxml, and resiliparse on public sets.

python -m benchmarks.changes.main_content FOLDER ...

Each folder is searched for pages with a reference text, in one of three layouts:

- `NAME/source.html` with `NAME/expected.html`: the test pages of Mozilla Readability;
- `html/NAME.html` with `txt/NAME.txt`: the test data of newspaper4k;
- `ground-truth.json` with `html/NAME.html.gz`: the article extraction benchmark of Scrapinghub (Zyte).

Scores are means over pages of the precision, recall and F1 of tokens (words, and single CJK characters), counted as
multisets. Recall comes first: a change in text that is left out is never reported. Extractors that are not installed
are left out.
"""

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from statistics import fmean

from sanderling.content.extract import extract_blocks
from sanderling.html.parser import parse_html
from sanderling.html.reading import select_main_content
from sanderling.html.text import render_text

Extractor = Callable[[bytes], str]
Page = tuple[str, bytes, str]
TOKEN = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\u0e01-\u0e5b]|\\w+")
BODY_KEYS = ("articleBody", "text")


def main() -> int:
    """Measure every extractor on every page below the folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--worst", type=int, default=0, help="list the pages on which our recall is lowest")
    args = parser.parse_args()
    for folder in args.folders:
        found = [page for page in pages(folder) if tokens(page[2])]
        print(f"{folder.name}: {len(found)} pages")
        for name, extract in extractors().items():
            scores = sorted((score(extract(body), truth), path) for path, body, truth in found)
            means = [fmean(row[0][place] for row in scores) for place in range(3)] if scores else [0.0] * 3
            print(f"  {name:18} recall {means[0]:.3f}  precision {means[1]:.3f}  F1 {means[2]:.3f}")
            for row, path in scores[: args.worst] if name == "sanderling" else ():
                print(f"    {row[0]:.3f} {row[1]:.3f} {path}")
    return 0


def pages(folder: Path) -> Iterator[Page]:
    """Return the pages below a folder: name, body, reference text."""
    for source in sorted(folder.rglob("source.html")):
        expected = source.with_name("expected.html")
        if expected.exists():
            yield source.parent.name, source.read_bytes(), render_text(parse_html(expected.read_bytes()))
    for source in sorted(folder.rglob("html/*.html")):
        expected = source.parent.parent / "txt" / f"{source.stem}.txt"
        if expected.exists():
            yield source.stem, source.read_bytes(), expected.read_text(errors="replace")
    for listing in sorted(folder.rglob("ground-truth.json")):
        for name, entry in json.loads(listing.read_text()).items():
            packed = listing.parent / "html" / f"{name}.html.gz"
            body = next((entry[key] for key in BODY_KEYS if key in entry), "")
            if packed.exists():
                yield name, gzip.decompress(packed.read_bytes()), body


def extractors() -> dict[str, Extractor]:
    """Return the extractors that are installed, ours first."""
    found: dict[str, Extractor] = {
        "sanderling": main_content,
        "for reading": main_content_for_reading,
        "all visible text": lambda body: render_text(parse_html(body)),
    }
    for name, module, build in (
        ("trafilatura", "trafilatura", _trafilatura),
        ("readability-lxml", "readability", _readability),
        ("resiliparse", "resiliparse.extract.html2text", _resiliparse),
    ):
        try:
            import_module(module)
        except ImportError:
            print(f"  {name} is not installed")
            continue
        found[name] = build
    return found


def main_content(body: bytes) -> str:
    """Return the lines of a page that the change detection takes for main content."""
    page = extract_blocks(parse_html(body))
    return "\n".join(line for line, is_main in zip(page.lines, page.main_mask, strict=True) if is_main)


def main_content_for_reading(body: bytes) -> str:
    """Return the text that `show --markdown` converts."""
    element = select_main_content(parse_html(body))
    return render_text(parse_html(element.html.encode()))


def _trafilatura(body: bytes) -> str:
    return str(import_module("trafilatura").extract(body) or "")


def _readability(body: bytes) -> str:
    try:
        summary = import_module("readability").Document(_decoded(body)).summary()
    except ValueError:  # Unparseable, for pages without text
        return ""
    return render_text(parse_html(str(summary).encode()))


def _resiliparse(body: bytes) -> str:
    extract = import_module("resiliparse.extract.html2text").extract_plain_text
    return str(extract(_decoded(body), main_content=True))


def _decoded(body: bytes) -> str:
    return body.decode(parse_html(body).encoding or "utf-8", "replace")


def tokens(words: str) -> Counter[str]:
    """Count the tokens of a text, in small letters."""
    return Counter(TOKEN.findall(words.lower()))


def score(found: str, truth: str) -> tuple[float, float, float]:
    """Return recall, precision and F1 of the tokens of an extracted text."""
    mine, yours = tokens(found), tokens(truth)
    shared = (mine & yours).total()
    recall, precision = shared / yours.total(), shared / mine.total() if mine else 0.0
    return recall, precision, 2 * recall * precision / (recall + precision) if shared else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
