"""Consecutive fetches of live pages, with the truth by hand-written selectors: did the main content change?"""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from tests.support.parity import as_found

from sanderling.changes.classify import ChangeKind, compare_fingerprints
from sanderling.changes.fingerprint_diff import diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.compare import PreviousVersion, compare_versions
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import parse_html


@pytest.mark.slow
def test_content_changes_of_live_pages_are_told_from_noise(suites: Path) -> None:
    folder = suites / "change-ota"

    @cache
    def mark(name: str) -> bytes:
        return encode_fingerprint(fingerprint_page(parse_html(gzip.decompress((folder / name).read_bytes()))))

    right = wrong = missed = 0
    for line in (folder / "pairs.jsonl").read_text().splitlines():
        pair = json.loads(line)
        said = ChangeKind.CONTENT in compare_fingerprints(mark(pair["old"]), mark(pair["new"])).kinds
        right += said and pair["main_content_changed"]
        wrong += said and not pair["main_content_changed"]
        missed += pair["main_content_changed"] and not said
    assert 2 * right / (2 * right + wrong + missed) >= 0.95


@pytest.mark.slow
def test_comparing_what_differs_gives_what_full_marks_give(suites: Path) -> None:
    folder = suites / "change-ota"
    for line in (folder / "pairs.jsonl").read_text().splitlines()[:100]:
        old, new = (gzip.decompress((folder / json.loads(line)[side]).read_bytes()) for side in ("old", "new"))
        last = parse_html(old)
        pair = compare_versions(parse_html(new), new, PreviousVersion(old, (last.encoding or "").lower()))
        found, truth = (
            diff_fingerprints(pair.old, pair.new),
            diff_fingerprints(fingerprint_page(last), fingerprint_page(parse_html(new))),
        )
        assert found == as_found(truth, found)
