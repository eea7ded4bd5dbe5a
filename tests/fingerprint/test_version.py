"""A change of the rules in the code needs another FINGERPRINT_VERSION: old and new fingerprints must not be compared.

Words in language files need none: their checksum is part of the stored version.
"""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.model import FINGERPRINT_VERSION, STORED_VERSION, encode_fingerprint
from sanderling.html.parser import parse_html

CORPUS = Path(__file__).parents[1] / "data" / "fingerprints"
DIGESTS = CORPUS / "digests.json"


def compute_digest() -> str:
    """Return the digest of the fingerprints of all pages of the corpus, apart from their version."""
    pages = [parse_html(path.read_bytes()) for path in sorted(CORPUS.glob("*.html"))]
    fingerprints = [encode_fingerprint(replace(fingerprint_page(page), version=0)) for page in pages]
    return hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in fingerprints)).hexdigest()[:32]


def test_rules_change_only_with_the_fingerprint_version() -> None:
    digests, digest = json.loads(DIGESTS.read_text()), compute_digest()
    assert digests.get(str(FINGERPRINT_VERSION)) == digest, (
        f"rules changed: raise FINGERPRINT_VERSION, and add its digest {digest} to {DIGESTS.name}"
    )
    assert STORED_VERSION >> 16 == FINGERPRINT_VERSION


@pytest.mark.parametrize("commit", ["HEAD", "HEAD~1"])
def test_digest_of_a_version_is_never_replaced(commit: str) -> None:
    path = f"{commit}:./{DIGESTS.name}"
    shown = subprocess.run(["git", "show", path], cwd=CORPUS, capture_output=True, check=False)
    if shown.returncode:
        pytest.skip(f"{commit} has no digests")
    assert json.loads(shown.stdout).items() <= json.loads(DIGESTS.read_text()).items()
