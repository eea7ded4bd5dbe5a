"""Consecutive fetches of live pages, with the truth by hand-written selectors: did the main content change?"""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from tests.support.parity import as_found

from sanderling.changes.classify import Kind, detect
from sanderling.changes.diff import difference
from sanderling.fingerprint.build import sign
from sanderling.fingerprint.fast.compare import Before, compare
from sanderling.fingerprint.model import write
from sanderling.html.parser import parse


@pytest.mark.slow
def test_content_changes_of_live_pages_are_told_from_noise(suites: Path) -> None:
    folder = suites / "change-ota"

    @cache
    def mark(name: str) -> bytes:
        return write(sign(parse(gzip.decompress((folder / name).read_bytes()))))

    right = wrong = missed = 0
    for line in (folder / "pairs.jsonl").read_text().splitlines():
        pair = json.loads(line)
        said = Kind.CONTENT in detect(mark(pair["old"]), mark(pair["new"])).kinds
        right += said and pair["main_content_changed"]
        wrong += said and not pair["main_content_changed"]
        missed += pair["main_content_changed"] and not said
    assert 2 * right / (2 * right + wrong + missed) >= 0.95


@pytest.mark.slow
def test_comparing_what_differs_gives_what_full_marks_give(suites: Path) -> None:
    folder = suites / "change-ota"
    for line in (folder / "pairs.jsonl").read_text().splitlines()[:100]:
        old, new = (gzip.decompress((folder / json.loads(line)[side]).read_bytes()) for side in ("old", "new"))
        last = parse(old)
        pair = compare(parse(new), new, Before(old, (last.encoding or "").lower()))
        found, truth = difference(pair.old, pair.new), difference(sign(last), sign(parse(new)))
        assert found == as_found(truth, found)
