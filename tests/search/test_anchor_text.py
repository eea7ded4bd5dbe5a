"""Anchor texts, inlink counts, and damage of the anchor database."""

from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.search.anchor_text import MAX_TEXTS, open_anchor_store
from sanderling.storage.collection import open_collection


def test_source_page_counts_as_one_inlink(tmp_path: Path) -> None:
    anchors = open_anchor_store(tmp_path)
    anchors.add(1, [7, 8], ["Tide tables", "  Home \n page "])
    anchors.add(2, [7], ["tides"])
    anchors.flush()
    anchors.add(1, [7], ["Tide tables of the year"])
    anchors.flush()
    assert anchors.get_texts([7, 8, 9]) == {
        7: (2, ["Tide tables", "tides", "Tide tables of the year"]),
        8: (1, ["Home page"]),
    }
    assert anchors.compute_average_inlinks() == 1.5
    anchors.close()


def test_only_new_texts_or_many_new_inlinks_need_reindexing(tmp_path: Path) -> None:
    anchors = open_anchor_store(tmp_path)
    anchors.add(1, [7], ["tides"])
    anchors.flush()
    assert anchors.find_unindexed(10) == [7]
    anchors.mark_indexed([7])
    anchors.add(1, [7], ["tides"])
    anchors.flush()
    assert anchors.find_unindexed(10) == []
    anchors.add(2, [7], ["tides"])  # twice as many inlinks
    anchors.flush()
    assert anchors.find_unindexed(10) == [7]
    anchors.close()


def test_texts_are_bounded(tmp_path: Path) -> None:
    anchors = open_anchor_store(tmp_path)
    for source in range(50):
        anchors.add(source, [7], [f"text {source} " + "x" * 500])
    anchors.flush()
    (count, texts) = anchors.get_texts([7])[7]
    assert (count, len(texts)) == (50, MAX_TEXTS)
    assert max(map(len, texts)) <= 80
    anchors.close()


def test_undecodable_texts_are_reported_as_anchor_damage(tmp_path: Path) -> None:
    anchors = open_anchor_store(tmp_path / "index")
    anchors.add(1, [7], ["tides"])
    anchors.flush()
    anchors.db.execute("UPDATE anchors SET texts = substr(texts, 1, 3)")
    with pytest.raises(CollectionError, match=r"anchors\.db is damaged.*delete .*index"), open_collection(tmp_path):
        anchors.get_texts([7])
    anchors.close()


@pytest.mark.parametrize("keep", [0, 100])
def test_damaged_anchor_database_is_reported_with_the_remedy(tmp_path: Path, keep: int) -> None:
    anchors = open_anchor_store(tmp_path)
    for page in range(500):
        anchors.add(page, [page + 1], [f"word {page}"])
    anchors.flush()
    anchors.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    anchors.close()
    file = tmp_path / "anchors.db"
    file.write_bytes(file.read_bytes()[:keep].ljust(file.stat().st_size, b"\xa5"))
    with pytest.raises(CollectionError, match=r"anchors\.db is damaged.*delete "):
        open_anchor_store(tmp_path).compute_average_inlinks()
