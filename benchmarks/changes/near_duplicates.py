"""Measure precision and recall of near-duplicate detection on whole sites, against the Jaccard similarity of shingles.

python -m benchmarks.changes.near_duplicates FOLDER ...                 each folder, then all of them as one collection
python -m benchmarks.changes.near_duplicates FOLDER ... --held-out NAME report these folders apart; they chose no
parameter python -m benchmarks.changes.near_duplicates FOLDER ... --distances 36 40 44 48

Truth is computed from the rendered text of the pages, cut into words by a regular expression, independently of the
sketches. Precision: of all pairs that `sanderling pages --near` lists, the share with a Jaccard similarity of at least
.5. Recall of pages: of the pages with an earlier page above .8, the share that is listed. Recall of pairs: of all pairs
above .8 (found exactly, by prefix filtering), the share whose two pages are in one group. Copies to the byte are left
out, as in a crawl.
"""

import argparse
import gzip
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from sanderling.dedup.minhash_index import MAX_DISTANCE
from sanderling.dedup.near_duplicates import NearDuplicatePair, OriginalIndex
from sanderling.fingerprint.fast.fast_scan import scan_page
from sanderling.fingerprint.text_hash import fingerprint_text
from sanderling.html.parser import parse_html
from sanderling.html.text import extract_raw_text, render_text

Shingles = NDArray[np.uint64]

WORD = re.compile(r"\w+")
SHINGLE = 5
RIGHT, SIMILAR = 0.5, 0.8  # similarity of pairs that may be listed, and that should be
SHORT = 10  # shingles below which a similarity says little


class Page(Struct):
    """A page with its true shingles and the sketch that a crawl computes."""

    name: str
    shingles: Shingles
    sketch: int


class Score(Struct):
    pages: int
    listed: int
    right: int
    duplicates: int
    duplicates_found: int
    pairs: int
    pairs_found: int


def main() -> int:
    """Measure each folder, the folders held out, and all pages together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--held-out", nargs="*", default=[], metavar="NAME", help="folders that chose no parameter")
    parser.add_argument(
        "--distances", nargs="*", type=int, default=[MAX_DISTANCE], help=f"limits in bits (default {MAX_DISTANCE})"
    )
    parser.add_argument("--wrong", type=int, default=0, help="print this many wrong pairs of each folder")
    args = parser.parse_args()
    sites = {folder.name: read_pages(folder) for folder in args.folders}
    sites["all pages as one collection"] = [page for pages in sites.values() for page in pages]
    for folder, pages in sites.items():
        name = f"{folder} (held out)" if folder in args.held_out else folder
        true_pairs = list(find_similar_pairs(pages))
        for limit in args.distances:
            listed = list_pairs(pages, limit)
            print_score(name, limit, score(pages, true_pairs, listed))
            print_wrong(pages, listed, args.wrong)
    return 0


def read_pages(folder: Path) -> list[Page]:
    """Read the HTML pages of a folder, each body once, in the order of their paths."""
    seen, pages = set[bytes](), list[Page]()
    for path in sorted(path for path in folder.rglob("*.htm*") if path.is_file()):
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        digest = sha256(body).digest()
        if digest not in seen:
            seen.add(digest)
            pages.append(Page(str(path.relative_to(folder)), true_shingles(body), compute_sketch(body)))
    return [page for page in pages if len(page.shingles) >= SHORT]


def true_shingles(body: bytes) -> Shingles:
    """Hash the distinct shingles of the rendered text."""
    words = WORD.findall(render_text(parse_html(body)).lower())
    shingles = {" ".join(words[start : start + SHINGLE]) for start in range(max(len(words) - SHINGLE, 0) + 1)}
    return np.array(sorted(xxh3_64_intdigest(one.encode()) for one in shingles), dtype=np.uint64)


def compute_sketch(body: bytes) -> int:
    """Sketch a page as a worker does."""
    seen = scan_page(body, "utf-8")
    _, sketch = seen.text_fingerprints if seen is not None else fingerprint_text(extract_raw_text(parse_html(body)))
    return int.from_bytes(sketch, "little")


def jaccard(one: Shingles, other: Shingles) -> float:
    """Return the share of shingles in common."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


def find_similar_pairs(pages: Sequence[Page]) -> Iterator[tuple[int, int]]:
    """Find all pairs with a similarity above SIMILAR by their rarest shingles (Chaudhuri et al. 2006)."""
    _, inverse, counts = np.unique(
        np.concatenate([page.shingles for page in pages]), return_inverse=True, return_counts=True
    )
    ends = np.cumsum([len(page.shingles) for page in pages])
    index: dict[int, list[int]] = {}
    for number, ids in enumerate(np.split(inverse, ends[:-1])):
        size = len(ids)
        rarest = ids[np.lexsort((ids, counts[ids]))][: size - math.ceil(SIMILAR * size) + 1]
        candidates = set[int]()
        for shingle in rarest[counts[rarest] > 1].tolist():
            bucket = index.setdefault(shingle, [])
            candidates.update(bucket)
            bucket.append(number)
        for other in candidates:
            is_near_in_size = SIMILAR * size <= len(pages[other].shingles) <= size / SIMILAR
            if is_near_in_size and jaccard(pages[other].shingles, pages[number].shingles) > SIMILAR:
                yield other, number


def list_pairs(pages: Sequence[Page], limit: int) -> list[NearDuplicatePair]:
    """Pair pages as a crawl does; pages are numbered from 1."""
    known = OriginalIndex(limit)
    return [pair for number, page in enumerate(pages, 1) if (pair := known.pair_page(number, page.sketch))]


def score(pages: Sequence[Page], true_pairs: Iterable[tuple[int, int]], listed: Sequence[NearDuplicatePair]) -> Score:
    """Compare the pairs listed with the truth."""
    groups: dict[int, int] = {}
    for pair in listed:
        groups[pair.url - 1] = groups.get(pair.duplicate_of - 1, pair.duplicate_of - 1)
    true_pairs = list(true_pairs)
    duplicates = {later for _, later in true_pairs}
    return Score(
        len(pages),
        len(listed),
        sum(similarity_of(pages, pair) >= RIGHT for pair in listed),
        len(duplicates),
        len(duplicates & groups.keys()),
        len(true_pairs),
        sum(groups.get(one, one) == groups.get(other, other) for one, other in true_pairs),
    )


def similarity_of(pages: Sequence[Page], pair: NearDuplicatePair) -> float:
    """Return the true similarity of a listed pair."""
    return jaccard(pages[pair.url - 1].shingles, pages[pair.duplicate_of - 1].shingles)


def print_score(name: str, limit: int, of: Score) -> None:
    """Print a line of the report."""
    print(
        f"{name:<34} {of.pages:>6} pages, limit {limit}: precision {_share(of.right, of.listed)}, "
        f"recall of pages {_share(of.duplicates_found, of.duplicates)}, of pairs {_share(of.pairs_found, of.pairs)}",
        flush=True,
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "- (0)"


def print_wrong(pages: Sequence[Page], listed: Sequence[NearDuplicatePair], count: int) -> None:
    """Print listed pairs with a similarity below RIGHT."""
    wrong = [(found, pair) for pair in listed if (found := similarity_of(pages, pair)) < RIGHT] if count else []
    for found, pair in wrong[:count]:
        print(
            f"  {found:.2f} estimated {pair.similarity:.2f} "
            f"{pages[pair.url - 1].name} {pages[pair.duplicate_of - 1].name}"
        )


if __name__ == "__main__":
    sys.exit(main())
