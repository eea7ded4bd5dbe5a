"""Measure the classification of changes; its cost is in benchmarks/changes/comparison_cost.py.

python -m benchmarks.changes.quality mutations FOLDER ...   pages below the folders, each changed in known ways
python -m benchmarks.changes.quality live                   consecutive fetches of live pages (suites/change-ota)
python -m benchmarks.changes.quality disguised              the same without names, landmarks and roles
python -m benchmarks.changes.quality planted                the same pages with noise of others, and with edits of
their text python -m benchmarks.changes.quality versions OLD NEW       two versions of a site; --truth
content_changes.json --pair N
"""

import argparse
import gzip
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from benchmarks.changes.disguises import DISGUISES, Names
from benchmarks.changes.inline_boilerplate import INSIDE, LOOKALIKES, listed
from benchmarks.changes.mutations import KINDS, NOISE, Mutation
from benchmarks.changes.planted_noise import EDITS, PLANTS, Pair, edited
from benchmarks.changes.planted_noise import planted as with_noise

from sanderling.changes.classify import ChangeKind, PageChange, classify_diff, compare_fingerprints
from sanderling.changes.fingerprint_diff import diff_fingerprints
from sanderling.changes.noise_model import NoiseModel
from sanderling.fingerprint.fast.compare import PreviousVersion, build_comparison_fingerprints
from sanderling.fingerprint.model import decode_fingerprint as unpack
from sanderling.html.parser import Document, parse_html

CONTENTS = "contents repeated"
Result = TypeVar("Result")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=("mutations", "live", "disguised", "planted", "versions"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=300, help="pages looked at (default 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suites", default=os.environ.get("SANDERLING_SUITES", ""))
    parser.add_argument("--truth", type=Path, help="content_changes.json")
    parser.add_argument("--pair", type=int, default=0, help="which pair of that file")
    parser.add_argument("--verbose", action="store_true", help="name what went wrong")
    args = parser.parse_args()
    run: Callable[[argparse.Namespace], None] = globals()[args.measure]
    run(args)
    return 0


def pages(folders: Iterable[Path], count: int, seed: int) -> list[Path]:
    """Some pages below these folders, chosen by chance."""
    found = [path for folder in folders for path in sorted(folder.rglob("*.htm*")) if path.is_file()]
    return random.Random(seed).sample(found, min(count, len(found)))


def read(path: Path) -> bytes:
    """A page, packed or not."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def marks(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """The marks by which a migrant compares two versions of a page."""
    made = build_comparison_fingerprints(
        parse_html(new), new, PreviousVersion(old, (parse_html(old).encoding or "").lower())
    )
    return made.before or b"", made.after or made.page or b""


def compared(old: bytes, new: bytes) -> PageChange:
    return compare_fingerprints(*marks(old, new))


def mutations(args: argparse.Namespace) -> None:
    """Change each page in every known way, and classify it."""
    right: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for path in pages(args.folders, args.pages, args.seed):
        for mutation, change in _mutated(path, args.seed):
            tried[mutation.name] += 1
            right[mutation.name] += mutation.is_right(change)
            if args.verbose and not mutation.is_right(change):
                print(f"  {mutation.name}: {path}: {change.kinds} {change.counts}", file=sys.stderr)
    for mutation in (*KINDS, *NOISE):
        name = mutation.name
        print(f"{name:<32}{right[name]:>7} of {tried[name]:<7}{_share(right[name], tried[name])}")
    for title, group in (("kinds named", KINDS), ("noise unheard", NOISE)):
        names = [mutation.name for mutation in group]
        good, all_ = sum(right[name] for name in names), sum(tried[name] for name in names)
        print(f"{title:<32}{good:>7} of {all_:<7}{_share(good, all_)}")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "-"


def _mutated(path: Path, seed: int) -> Iterator[tuple[Mutation, PageChange]]:
    body = read(path)
    for mutation in (*KINDS, *NOISE):
        pair = mutation.apply(body, random.Random(f"{seed} {path} {mutation.name}"))
        if pair is not None:
            yield mutation, compared(*(version.encode() for version in pair))


def live(args: argparse.Namespace) -> None:
    """Consecutive fetches of live pages: did the main content change?"""
    _score(args, "live pages", lambda body, _: body)


def disguised(args: argparse.Namespace) -> None:
    """Repeat without class names and landmarks."""
    for title, disguise in DISGUISES.items():
        _score(args, title, partial(_disguised, disguise))


def _disguised(disguise: Callable[[Document, Names], None], body: bytes, names: Names) -> bytes:
    tree = parse_html(body)
    disguise(tree, names)
    return tree.html.encode()


def _score(args: argparse.Namespace, title: str, change: Callable[[bytes, Names], bytes]) -> None:
    folder = _live(args)
    score: Counter[tuple[bool, bool]] = Counter()
    for line in (folder / "pairs.jsonl").read_text().splitlines():
        pair, names = json.loads(line), Names()
        old, new = (change(gzip.decompress((folder / pair[side]).read_bytes()), names) for side in ("old", "new"))
        is_reported = ChangeKind.CONTENT in compared(old, new).kinds
        score[pair["main_content_changed"], is_reported] += 1
        if args.verbose and is_reported != pair["main_content_changed"]:
            print(f"  {pair['page']} {pair['old']} {pair['new']}: we say {is_reported}", file=sys.stderr)
    _print_score(title, score)


def planted(args: argparse.Namespace) -> None:
    """Check that noise of other pages put into each live page is ignored, and that an edit of its text is reported."""
    folder = _live(args)
    rows = map(json.loads, (folder / "pairs.jsonl").read_text().splitlines())
    bodies = {row["page"]: gzip.decompress((folder / row["new"]).read_bytes()) for row in rows}
    inside = (*INSIDE, CONTENTS)
    for title, wanted, names in (
        ("noise unheard", False, PLANTS),
        ("noise inside unheard", False, inside),
        ("edits that look like noise, reported", True, LOOKALIKES),
        ("edits reported", True, EDITS),
    ):
        right: Counter[str] = Counter()
        tried: Counter[str] = Counter()
        for page, body in bodies.items():
            for name in names:
                pair = _planted(body, name, random.Random(f"{args.seed} {page} {name}"))
                if pair is None:
                    continue
                is_right = (ChangeKind.CONTENT in compared(*(version.encode() for version in pair)).kinds) is wanted
                tried[name] += 1
                right[name] += is_right
                if args.verbose and not is_right:
                    print(f"  {name}: {page}", file=sys.stderr)
        for name in names:
            print(f"{name:<32}{right[name]:>7} of {tried[name]:<7}{_share(right[name], tried[name])}")
        good, all_ = sum(right.values()), sum(tried.values())
        print(f"{title:<32}{good:>7} of {all_:<7}{_share(good, all_)}")


def _planted(body: bytes, name: str, dice: random.Random) -> Pair | None:
    if name == CONTENTS:
        return listed(body)
    plant = (PLANTS | INSIDE | LOOKALIKES).get(name)
    return edited(body, EDITS[name], dice) if plant is None else with_noise(body, plant)


def _live(args: argparse.Namespace) -> Path:
    return Path(args.suites or "nowhere") / "change-ota"


def versions(args: argparse.Namespace) -> None:
    """Two versions of a site, all of whose pages differ in bytes: in which does the main text?"""
    old, new = args.folders
    truth = set(json.loads(args.truth.read_text())[args.pair]["main_text_changed"])
    noise, found = NoiseModel(), {}
    names = sorted(str(path.relative_to(old)) for path in old.rglob("*.htm*") if path.is_file())
    for number, name in enumerate(names):
        if (new / name).is_file():
            before, after = (old / name).read_bytes(), (new / name).read_bytes()
            found[name] = None if before == after else diff_fingerprints(*map(unpack, marks(before, after)))
            noise.learn(number, found[name])
    score: Counter[tuple[bool, bool]] = Counter()
    for number, (name, facts) in enumerate(found.items()):
        is_reported = facts is not None and ChangeKind.CONTENT in classify_diff(facts, noise, number).kinds
        score[name in truth, is_reported] += 1
        if args.verbose and is_reported != (name in truth):
            print(f"  {name}: we say {is_reported}", file=sys.stderr)
    _print_score(f"{len(found)} pages", score)


def _print_score(title: str, score: Counter[tuple[bool, bool]]) -> None:
    hit, wrong, missed = score[True, True], score[False, True], score[True, False]
    precision = hit / (hit + wrong) if hit + wrong else 1.0
    recall = hit / (hit + missed) if hit + missed else 1.0
    f1 = 2 * hit / (2 * hit + wrong + missed) if hit + wrong + missed else 1.0
    print(
        f"{title}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f} ({hit} + {wrong} wrong, {missed} missed)"
    )


if __name__ == "__main__":
    sys.exit(main())
