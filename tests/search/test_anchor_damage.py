"""Damage of the anchor database names that file and its remedy."""

from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.search.anchor_text import open_anchor_store


@pytest.mark.parametrize("keep", [0, 100])
def test_damage_of_anchors_is_named_with_the_cheap_remedy(tmp_path: Path, keep: int) -> None:
    anchors = open_anchor_store(tmp_path)
    for page in range(500):
        anchors.add(page, [page + 1], [f"word {page}"])
    anchors.flush()
    anchors.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    anchors.close()
    file = tmp_path / "anchors.db"
    file.write_bytes(file.read_bytes()[:keep].ljust(file.stat().st_size, b"\xa5"))
    with pytest.raises(CollectionError, match=r"anchors\.db is damaged.*made anew"):
        open_anchor_store(tmp_path).compute_average_inlinks()
