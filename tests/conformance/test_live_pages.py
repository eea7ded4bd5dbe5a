"""Consecutive fetches of live pages, with the truth by hand-written selectors: did the main content change?"""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from sanderling.changes.detect import Kind, detect
from sanderling.pages.again import TO_PREPARE, renew, sign_again
from sanderling.pages.parse import parse
from sanderling.pages.signatures import sign, write


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
def test_marks_made_from_those_of_the_last_version_are_those_made_in_full(suites: Path) -> None:
    folder = suites / "change-ota"
    made = 0
    for line in (folder / "pairs.jsonl").read_text().splitlines()[:100]:
        old, new = (gzip.decompress((folder / json.loads(line)[side]).read_bytes()) for side in ("old", "new"))
        mark = renew(sign_again(parse(old), old, TO_PREPARE), new, parse(new))
        if mark is not None:
            made += 1
            assert structs.replace(mark, again=b"") == sign(parse(new))
    assert made >= 30
