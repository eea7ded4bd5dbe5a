"""Near duplicates of a collection, kept up to date."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest

from sanderling.db.connection import Connection, transaction
from sanderling.dedup.minhash_index import MAX_DISTANCE
from sanderling.dedup.near_duplicates import IncrementalPairing, NearDuplicatePair, find_pairs, load_pairs, store_pairs
from sanderling.fingerprint.minhash import sketch_text
from sanderling.storage.collection import open_collection


def prose(seed: int) -> str:
    dice = Random(seed)
    words = ["".join(dice.choices("abcdefghij", k=9)) for _ in range(60)]
    return " ".join(dice.choice(words) for _ in range(400))


TEXT, OTHER = prose(1), prose(2)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    with open_collection(tmp_path) as collection:
        yield collection.db


def put(db: Connection, url: int, text: str, visit: int, duplicate_of: int = 0) -> None:
    """Store what the look-up needs of a page."""
    db.execute("DELETE FROM pages WHERE url = ?", (url,))
    db.execute("DELETE FROM marks WHERE url = ?", (url,))
    rows = db.execute("PRAGMA table_info(pages)").fetchall()
    values = {"url": url, "status": 200, "visit": visit, "duplicate_of": duplicate_of}
    blank = {"INTEGER": 0, "REAL": 0.0, "TEXT": "", "BLOB": b""}
    cells = [values.get(row[1], blank.get(row[2], 0)) for row in rows]
    db.execute(f"INSERT INTO pages VALUES ({', '.join('?' * len(cells))})", cells)
    db.execute("INSERT INTO marks VALUES (?, 'minhash', ?)", (url, sketch_text(text)))


def look(db: Connection, rereads: Mapping[int, int] | None = None) -> int:
    news = find_pairs(db, rereads)
    with transaction(db):
        store_pairs(db, news)
    return news.lookup_count


def test_pages_that_read_the_same_are_paired_with_the_one_met_first(db: Connection) -> None:
    put(db, 1, TEXT, 1)
    put(db, 2, OTHER, 2)
    put(db, 3, TEXT + "Also in summer.", 3)
    put(db, 4, TEXT, 4)
    assert look(db) == 4
    found = list(load_pairs(db))
    assert [(pair.url, pair.duplicate_of) for pair in found] == [(3, 1), (4, 1)]
    assert found[1] == NearDuplicatePair(4, 1, 0)


def test_only_what_came_since_is_looked_up(db: Connection) -> None:
    put(db, 1, TEXT, 1)
    look(db)
    assert look(db) == 0
    put(db, 2, TEXT, 2)
    assert look(db) == 1
    assert [(pair.url, pair.duplicate_of) for pair in load_pairs(db)] == [(2, 1)]


def test_a_page_that_reads_as_it_did_is_not_looked_up_again(db: Connection) -> None:
    put(db, 1, TEXT, 1)
    put(db, 2, TEXT + "Also in summer.", 2)
    assert look(db) == 2
    said = list(load_pairs(db))
    put(db, 1, TEXT, 3)
    put(db, 2, TEXT + "Also in summer.", 4)
    assert look(db, {1: 1, 2: 2}) == 0
    assert list(load_pairs(db)) == said
    put(db, 1, TEXT, 5)
    put(db, 2, TEXT + "Also in summer.", 6)
    assert look(db, {1: 5}) == 2  # nobody looked when it came to read so


def test_a_page_that_reads_otherwise_now_is_no_twin_any_more(db: Connection) -> None:
    for url in (1, 2, 3):
        put(db, url, TEXT, url)
    look(db)
    put(db, 1, OTHER, 4)
    assert look(db) == 3
    assert [(pair.url, pair.duplicate_of) for pair in load_pairs(db)] == [(3, 2)]


def test_copies_to_the_byte_and_empty_pages_are_left_out(db: Connection) -> None:
    put(db, 1, TEXT, 1)
    put(db, 2, TEXT, 2, duplicate_of=1)
    put(db, 3, "", 3)
    put(db, 4, "", 4)
    look(db)
    assert list(load_pairs(db)) == []


def put_mark(db: Connection, url: int, mark: int, visit: int) -> None:
    put(db, url, TEXT, visit)
    db.execute("UPDATE marks SET value = ? WHERE url = ?", (mark.to_bytes(32, "little"), url))


def bits(first: int, count: int) -> int:
    """A sketch that differs from START in five times as many bits, outside of the bands that are looked up."""
    return START ^ sum(1 << 96 + bit % 160 for bit in range(5 * first, 5 * (first + count)))


START = 0x5A5A5A5A5A5A5A5A * (1 | 1 << 64 | 1 << 128 | 1 << 192)
CHAIN = {1: START, 2: bits(0, 6), 3: bits(0, 12), 4: bits(0, 18)}  # each reads like the one before it alone


def put_chain(db: Connection) -> None:
    for url, mark in CHAIN.items():
        put_mark(db, url, mark, url)


def test_a_page_that_reads_like_a_near_duplicate_and_not_like_its_original_is_paired_with_that(db: Connection) -> None:
    put_chain(db)
    put_mark(db, 5, bits(0, 8), 5)
    look(db)
    assert list(load_pairs(db)) == [
        NearDuplicatePair(2, 1, 30),
        NearDuplicatePair(3, 2, 30),
        NearDuplicatePair(4, 3, 30),
        NearDuplicatePair(5, 1, 40),
    ], "an original goes before"


def test_a_page_that_comes_later_is_paired_with_a_near_duplicate_too(db: Connection) -> None:
    put_chain(db)
    look(db)
    put_mark(db, 5, bits(0, 24), 5)
    assert look(db) == 1
    assert list(load_pairs(db))[-1] == NearDuplicatePair(5, 4, 30)


def test_all_that_hang_on_a_page_that_changed_are_looked_up_again(db: Connection) -> None:
    put_chain(db)
    look(db)
    put(db, 1, OTHER, 5)
    assert look(db) == 4
    assert list(load_pairs(db)) == [NearDuplicatePair(3, 2, 30), NearDuplicatePair(4, 3, 30)]
    put_mark(db, 2, CHAIN[1], 6)
    assert look(db) == 3
    assert list(load_pairs(db)) == [NearDuplicatePair(4, 3, 30)]


def test_of_many_pages_that_read_alike_only_some_are_compared(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.dedup.near_duplicates.MAX_NEIGHBORS", 1)
    put_chain(db)
    look(db)
    assert list(load_pairs(db)) == [NearDuplicatePair(2, 1, 30), NearDuplicatePair(3, 2, 30)], (
        "the last one begins anew"
    )
    put_mark(db, 5, bits(0, 14), 5)
    look(db)
    assert list(load_pairs(db))[-1] == NearDuplicatePair(5, 4, 20)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_changes_no_page_hangs_on_itself_and_all_pairs_hold(db: Connection, seed: int) -> None:
    dice, marks, visit = Random(seed), dict[int, int](), 0
    for _ in range(12):
        for url in dice.sample(range(1, 31), 8):
            visit += 1
            marks[url] = bits(dice.randrange(40), dice.randrange(12))
            put_mark(db, url, marks[url], visit)
        look(db)
        twins = {pair.url: pair.duplicate_of for pair in load_pairs(db)}
        assert all(
            (marks[pair.url] ^ marks[pair.duplicate_of]).bit_count() == pair.distance <= MAX_DISTANCE
            for pair in load_pairs(db)
        )
        for url in twins:
            seen = [url]
            while seen[-1] in twins:
                assert twins[seen[-1]] not in seen
                seen.append(twins[seen[-1]])


def marked(*texts: str) -> list[tuple[int, bytes]]:
    return [(url, sketch_text(text)) for url, text in enumerate(texts, 1)]


def test_a_first_crawl_finds_while_pages_come_what_a_look_up_finds_at_its_end(db: Connection) -> None:
    texts = TEXT, OTHER, TEXT + "Also in summer.", prose(3), OTHER, TEXT
    pairing = IncrementalPairing(db)
    pairing.add(marked(*texts)[:2])
    pairing.add(marked(*texts)[2:])
    for url, text in enumerate(texts, 1):
        put(db, url, text, url)
    news = find_pairs(db)
    assert pairing.get_update(db) == news
    assert len(news.pairs) == 3


def test_the_original_is_the_page_that_came_first_whoever_looks(db: Connection) -> None:
    arrived = [(url, sketch_text(TEXT)) for url in (7, 9, 2)]
    pairing = IncrementalPairing(db)
    pairing.add(arrived)
    for visit, (url, _) in enumerate(arrived, 1):
        put(db, url, TEXT, visit)
    news = find_pairs(db)
    assert [(pair.url, pair.duplicate_of) for pair in news.pairs] == [(9, 7), (2, 7)]
    assert pairing.get_update(db) == news


def test_a_crawl_of_pages_that_were_there_before_leaves_it_to_a_look_up(db: Connection) -> None:
    put(db, 1, TEXT, 1)
    pairing = IncrementalPairing(db)
    pairing.add(marked(OTHER, TEXT)[1:])
    assert pairing.get_update(db) is None


def test_pages_that_came_and_were_not_stored_leave_all_to_a_look_up(db: Connection) -> None:
    pairing = IncrementalPairing(db)
    pairing.add(marked(TEXT, TEXT, OTHER))
    put(db, 1, TEXT, 1)
    put(db, 2, TEXT, 2)
    assert pairing.get_update(db) is None


def test_a_page_whose_original_is_gone_reads_like_none(db: Connection) -> None:
    put(db, 1, TEXT, 1)
    put(db, 2, TEXT, 2)
    look(db)
    db.execute("UPDATE pages SET status = 404 WHERE url = 1")
    assert list(load_pairs(db)) == []


def test_a_page_that_comes_again_leaves_all_to_a_look_up(db: Connection) -> None:
    pairing = IncrementalPairing(db)
    pairing.add(marked(TEXT, TEXT))
    put(db, 1, TEXT, 1)
    put(db, 2, TEXT, 2)
    assert pairing.get_update(db) is not None
    pairing.defer()
    pairing.add(marked(OTHER))
    assert pairing.get_update(db) is None


def test_a_crawl_that_grows_large_leaves_all_to_a_look_up(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.dedup.near_duplicates.MAX_INCREMENTAL_PAGES", 1)
    pairing = IncrementalPairing(db)
    pairing.add(marked(TEXT, TEXT))
    for url in (1, 2):
        put(db, url, TEXT, url)
    assert pairing.get_update(db) is not None
    pairing.add(marked(TEXT, TEXT, OTHER)[2:])
    assert pairing.get_update(db) is None


def test_a_collection_of_an_earlier_version_opens_without_its_wrong_pairs(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection, transaction(collection.db):
        put(collection.db, 1, TEXT, 1)
        put(collection.db, 2, OTHER, 2)
        collection.db.execute("UPDATE marks SET kind = 'simhash', value = ?", (b"8 bytes.",))
        collection.db.execute("INSERT INTO near VALUES (2, 1, 3)")
        collection.db.execute("INSERT INTO near_until VALUES (2)")
        collection.db.execute("UPDATE migrations SET applied = applied - 1 WHERE room IN ('dedupe', 'store')")
    with open_collection(tmp_path) as collection:
        assert list(load_pairs(collection.db)) == []
        assert look(collection.db) == 0, "pages are looked up once they were fetched again"
        put(collection.db, 1, TEXT, 3)
        put(collection.db, 2, TEXT, 4)
        assert look(collection.db) == 2
        assert [(pair.url, pair.duplicate_of) for pair in load_pairs(collection.db)] == [(2, 1)]


def test_pages_that_share_only_vocabulary_are_not_paired(db: Connection) -> None:
    words = TEXT.split()
    for url in range(1, 30):
        put(db, url, " ".join(Random(url).sample(words, len(words))), url)
    look(db)
    assert list(load_pairs(db)) == []
