"""Compare consecutive fetches of live pages, labeled by selectors: did the main content change?"""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from tests.support.parity import as_found, pair_of

from sanderling.changes.classify import ChangeKind, compare_fingerprints
from sanderling.changes.fingerprint_diff import diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import parse_html


@pytest.mark.slow
def test_content_changes_of_live_pages_are_distinguished_from_noise(suites: Path) -> None:
    folder = suites / "change-ota"

    @cache
    def load_fingerprint(name: str) -> bytes:
        return encode_fingerprint(fingerprint_page(parse_html(gzip.decompress((folder / name).read_bytes()))))

    true_positives = false_positives = false_negatives = 0
    for line in (folder / "pairs.jsonl").read_text().splitlines():
        pair = json.loads(line)
        detected = (
            ChangeKind.CONTENT
            in compare_fingerprints(load_fingerprint(pair["old"]), load_fingerprint(pair["new"])).kinds
        )
        true_positives += detected and pair["main_content_changed"]
        false_positives += detected and not pair["main_content_changed"]
        false_negatives += pair["main_content_changed"] and not detected
    assert 2 * true_positives / (2 * true_positives + false_positives + false_negatives) >= 0.95


@pytest.mark.slow
def test_fast_comparison_equals_comparison_of_fingerprints(suites: Path) -> None:
    folder = suites / "change-ota"
    for line in (folder / "pairs.jsonl").read_text().splitlines()[:100]:
        old, new = (gzip.decompress((folder / json.loads(line)[side]).read_bytes()) for side in ("old", "new"))
        last = parse_html(old)
        pair = pair_of(old, new, (last.encoding or "").lower())
        fast, full = (
            diff_fingerprints(pair.old, pair.new),
            diff_fingerprints(fingerprint_page(last), fingerprint_page(parse_html(new))),
        )
        assert fast == as_found(full, fast)
