"""What links say of their targets is kept, and each page counts once."""

from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.search.anchor_text import MAX_TEXTS, open_anchor_store
from sanderling.storage.collection import open_collection


def test_a_page_counts_once_however_often_it_changes(tmp_path: Path) -> None:
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


def test_only_news_asks_for_another_entry(tmp_path: Path) -> None:
    anchors = open_anchor_store(tmp_path)
    anchors.add(1, [7], ["tides"])
    anchors.flush()
    assert anchors.find_unindexed(10) == [7]
    anchors.mark_indexed([7])
    anchors.add(1, [7], ["tides"])
    anchors.flush()
    assert anchors.find_unindexed(10) == []
    anchors.add(2, [7], ["tides"])  # twice as many pages as before
    anchors.flush()
    assert anchors.find_unindexed(10) == [7]
    anchors.close()


def test_words_are_bounded(tmp_path: Path) -> None:
    anchors = open_anchor_store(tmp_path)
    for source in range(50):
        anchors.add(source, [7], [f"text {source} " + "x" * 500])
    anchors.flush()
    (count, texts) = anchors.get_texts([7])[7]
    assert (count, len(texts)) == (50, MAX_TEXTS)
    assert max(map(len, texts)) <= 80
    anchors.close()


def test_words_that_cannot_be_read_are_no_damage_of_the_collection(tmp_path: Path) -> None:
    anchors = open_anchor_store(tmp_path / "index")
    anchors.add(1, [7], ["tides"])
    anchors.flush()
    anchors.db.execute("UPDATE anchors SET texts = substr(texts, 1, 3)")
    with pytest.raises(CollectionError, match=r"anchors\.db is damaged.*made anew"), open_collection(tmp_path):
        anchors.get_texts([7])
    anchors.close()
