"""Measure precision and recall of aliases on real pages that mark them up, and megabytes of text per second.

    python -m benchmarks.search.aliases [--data DIR] [--workers N]

The labels come from the structure of documentation pages, which the finder never sees: an element, words such as
`also known as`, and another element right behind (`<code>SOME</code> is a synonym for <code>ANY</code>`); or a heading
of a field and `An alias for <code>X</code>` in its description. The finder gets the plain text of all pages.
"""

import argparse
import re
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lib.doc_sites import SITES, unpacked
from lxml import etree, html

from sanderling.html.parser import parse_html
from sanderling.html.text import render_text
from sanderling.search.aliases.finder import collect_evidence, find_aliases
from sanderling.search.aliases.mentions import NameMatcher, fold_name

INLINE = frozenset("code em i b strong dfn tt a q span var cite acronym abbr kbd samp".split())  # noqa: SIM905
CUE = re.compile(
    r"(?:known as|a\.k\.a\.?|\baka|also called|formerly(?: called| known as)?|synonym (?:for|of)|alias (?:for|of)"
    r"|abbreviat\w+ (?:as|to|for)|short for|stands for|referred to as|sometimes called|also spelled"
    r"|renamed (?:to|from))\s*:?\s*(?:the |a |an )?[\"“‘']?\s*$",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"[\s,;:(\[\"”’'–—-]*(?:(?:is|was|are|were|also|sometimes|often|commonly|which|now|be|an?|the|simply|more|better|officially"
    r"|deprecated|has|been)\s+)*",
    re.IGNORECASE,
)
WORTH = re.compile(
    rb"known\s+as|a\.k\.a|\baka\b|also\s+called|ormerly|ynonym|lias\s+(?:for|of)|hort\s+for|tands\s+for|bbrevia|enamed"
)

Pair = tuple[str, str]


def labels(page: bytes) -> Iterator[Pair]:
    """Read the pairs a page marks up."""
    try:
        tree = html.fromstring(page)
    except (etree.ParserError, ValueError):
        return
    for element in tree.iter(*INLINE):
        before = element.getprevious()
        lead = (element.getparent().text if before is None else before.tail) or ""
        cue = CUE.search(lead) if element.getparent() is not None else None
        if cue is None:
            continue
        name = _name(element, before, lead[: cue.start()])
        pair = (_clean(name), _clean(element.text_content()))
        if all(sum(map(str.isalnum, word)) > 1 and len(word) <= 60 and not word.endswith(":") for word in pair):
            yield pair


def _name(element: html.HtmlElement, before: html.HtmlElement | None, lead: str) -> str:
    """Find the element that contains the name: before the cue, or the heading of a field."""
    if before is not None and before.tag in INLINE and BETWEEN.fullmatch(lead):
        return str(before.text_content())
    if before is None and BETWEEN.fullmatch(lead):
        for section in element.iterancestors("section"):
            heading = section.find("h3")
            return "" if heading is None else str(heading.text_content())
    return ""


def _clean(words: str) -> str:
    return " ".join(words.split()).strip("\"“”‘’' ")


def pages_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Read all pages of the sites."""
    for name, root in SITES.items():
        for file in sorted((unpacked(folder / "sites", name) / root).rglob("*.html")):
            if file.is_file() and not file.is_symlink():
                yield str(file), file.read_bytes()


def collect(folder: Path) -> tuple[set[Pair], list[tuple[str, bytes]], float, float]:
    """Read labels and texts; return the amount of HTML and the time."""
    pairs: set[Pair] = set()
    texts: list[tuple[str, bytes]] = []
    megabytes = seconds = 0.0
    for source, page in pages_of(folder):
        if WORTH.search(page):
            pairs.update(labels(page))
        start = time.process_time()
        texts.append((source, render_text(parse_html(page)).encode()))
        seconds += time.process_time() - start
        megabytes += len(page) / 1e6
    return pairs, texts, megabytes, seconds


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="print what is wrong or missed")
    options = parser.parse_args()
    pairs, texts, megabytes, seconds = collect(options.data)
    print(f"{len(texts):,} pages, {megabytes:,.0f} MB of HTML read as text at {megabytes / seconds:.0f} MB/s per core")
    quality(pairs, texts, options.show)
    names = speed(pairs, texts)
    together([source for source, _ in texts[:4000]], names, options.workers)


def quality(pairs: set[Pair], texts: list[tuple[str, bytes]], show: bool) -> None:
    """Print precision, recall and F; an alias that is right but marked up nowhere counts as wrong."""
    gold = {(fold_name(name), fold_name(alias)) for name, alias in pairs}
    gold |= {(alias, name) for name, alias in gold}
    names = sorted({name for name, _ in gold})
    found = find_aliases(texts, names)
    for most in (1, 3, 10):
        found_names = {(name, fold_name(alias.alias)) for name, aliases in found.items() for alias in aliases[:most]}
        right = len(found_names & gold)
        precision, recall = right / len(found_names), right / len(gold)
        score = 2 * precision * recall / (precision + recall)
        print(f"{len(gold)} labels, best {most:2}: precision {precision:.3f}, recall {recall:.3f}, F {score:.3f}")
    if show:
        print("wrong:", *sorted(found_names - gold), sep="\n  ")
        print("missed:", *sorted(gold - found_names), sep="\n  ")


def speed(pairs: set[Pair], texts: list[tuple[str, bytes]]) -> list[str]:
    """Print megabytes of text per second, for one name and for many."""
    size = sum(len(body) for _, body in texts) / 1e6
    many = [name for pair in pairs for name in pair] + [f"Name {number}" for number in range(10_000)]
    for what, names in (("1 name", many[:1]), (f"{len(many):,} names", many)):
        matcher = NameMatcher(names)
        start = time.process_time()
        collect_evidence(texts, matcher)
        print(f"{what}: {size / (time.process_time() - start):,.0f} MB/s of text per core ({size:.0f} MB)")
    return many


def load(file: str) -> Iterator[tuple[str, str]]:
    """Read the text of a page in a worker process."""
    yield file, render_text(parse_html(Path(file).read_bytes()))


def together(files: list[str], names: list[str], workers: int) -> None:
    """Print megabytes of HTML per second, with one process and with several."""
    size = sum(Path(file).stat().st_size for file in files) / 1e6
    for count in (1, workers):
        start = time.perf_counter()
        find_aliases(files, names, workers=count, load=load)
        rate = size / (time.perf_counter() - start)
        print(f"{count} processes, HTML from disk: {rate:,.0f} MB/s in all ({size:.0f} MB)")


if __name__ == "__main__":
    main()
