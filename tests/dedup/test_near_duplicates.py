"""Near-duplicate pairs of a collection."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite, transaction
from sanderling.db.schema.dedup import MIGRATIONS as DEDUP_MIGRATIONS
from sanderling.db.schema.storage import MIGRATIONS as STORAGE_MIGRATIONS
from sanderling.dedup.minhash_index import MAX_DISTANCE
from sanderling.dedup.near_duplicates import IncrementalPairing, NearDuplicatePair, find_pairs, load_pairs, store_pairs
from sanderling.fingerprint.minhash import sketch_text
from sanderling.storage.collection import open_collection


def generate_text(seed: int) -> str:
    rng = Random(seed)
    words = ["".join(rng.choices("abcdefghij", k=9)) for _ in range(60)]
    return " ".join(rng.choice(words) for _ in range(400))


TEXT, OTHER = generate_text(1), generate_text(2)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    with open_collection(tmp_path) as collection:
        yield collection.db


def store_page(db: Connection, url: int, text: str, visit: int, duplicate_of: int = 0) -> None:
    """Store a page with its sketch."""
    db.execute("DELETE FROM pages WHERE url = ?", (url,))
    db.execute("DELETE FROM fingerprints WHERE url = ?", (url,))
    rows = db.execute("PRAGMA table_info(pages)").fetchall()
    values = {"url": url, "status": 200, "visit": visit, "duplicate_of": duplicate_of}
    blank = {"INTEGER": 0, "REAL": 0.0, "TEXT": "", "BLOB": b""}
    cells = [values.get(row[1], blank.get(row[2], 0)) for row in rows]
    db.execute(f"INSERT INTO pages VALUES ({', '.join('?' * len(cells))})", cells)
    db.execute("INSERT INTO fingerprints VALUES (?, 'minhash', ?)", (url, sketch_text(text)))


def update_pairs(db: Connection, unchanged_since: Mapping[int, int] | None = None) -> int:
    update = find_pairs(db, unchanged_since)
    with transaction(db):
        store_pairs(db, update)
    return update.lookup_count


def test_near_duplicates_are_paired_with_the_first_page(db: Connection) -> None:
    store_page(db, 1, TEXT, 1)
    store_page(db, 2, OTHER, 2)
    store_page(db, 3, TEXT + "Also in summer.", 3)
    store_page(db, 4, TEXT, 4)
    assert update_pairs(db) == 4
    found = list(load_pairs(db))
    assert [(pair.url, pair.duplicate_of) for pair in found] == [(3, 1), (4, 1)]
    assert found[1] == NearDuplicatePair(4, 1, 0)


def test_only_new_pages_are_looked_up(db: Connection) -> None:
    store_page(db, 1, TEXT, 1)
    update_pairs(db)
    assert update_pairs(db) == 0
    store_page(db, 2, TEXT, 2)
    assert update_pairs(db) == 1
    assert [(pair.url, pair.duplicate_of) for pair in load_pairs(db)] == [(2, 1)]


def test_unchanged_page_is_not_looked_up_again(db: Connection) -> None:
    store_page(db, 1, TEXT, 1)
    store_page(db, 2, TEXT + "Also in summer.", 2)
    assert update_pairs(db) == 2
    pairs = list(load_pairs(db))
    store_page(db, 1, TEXT, 3)
    store_page(db, 2, TEXT + "Also in summer.", 4)
    assert update_pairs(db, {1: 1, 2: 2}) == 0
    assert list(load_pairs(db)) == pairs
    store_page(db, 1, TEXT, 5)
    store_page(db, 2, TEXT + "Also in summer.", 6)
    assert update_pairs(db, {1: 5}) == 2  # that visit is newer than the last update


def test_changed_page_is_no_longer_a_near_duplicate(db: Connection) -> None:
    for url in (1, 2, 3):
        store_page(db, url, TEXT, url)
    update_pairs(db)
    store_page(db, 1, OTHER, 4)
    assert update_pairs(db) == 3
    assert [(pair.url, pair.duplicate_of) for pair in load_pairs(db)] == [(3, 2)]


def test_identical_and_empty_pages_are_excluded(db: Connection) -> None:
    store_page(db, 1, TEXT, 1)
    store_page(db, 2, TEXT, 2, duplicate_of=1)
    store_page(db, 3, "", 3)
    store_page(db, 4, "", 4)
    update_pairs(db)
    assert list(load_pairs(db)) == []


def store_sketch(db: Connection, url: int, sketch: int, visit: int) -> None:
    store_page(db, url, TEXT, visit)
    db.execute("UPDATE fingerprints SET value = ? WHERE url = ?", (sketch.to_bytes(32, "little"), url))


def build_sketch(first: int, count: int) -> int:
    """Return a sketch that differs from START in 5 * count bits outside of the bands."""
    return START ^ sum(1 << 96 + bit % 160 for bit in range(5 * first, 5 * (first + count)))


START = 0x5A5A5A5A5A5A5A5A * (1 | 1 << 64 | 1 << 128 | 1 << 192)
CHAIN = {
    1: START,
    2: build_sketch(0, 6),
    3: build_sketch(0, 12),
    4: build_sketch(0, 18),
}  # each is near its predecessor only


def store_chain(db: Connection) -> None:
    for url, sketch in CHAIN.items():
        store_sketch(db, url, sketch, url)


def test_page_is_paired_with_a_neighbor_if_no_original_is_near(db: Connection) -> None:
    store_chain(db)
    store_sketch(db, 5, build_sketch(0, 8), 5)
    update_pairs(db)
    assert list(load_pairs(db)) == [
        NearDuplicatePair(2, 1, 30),
        NearDuplicatePair(3, 2, 30),
        NearDuplicatePair(4, 3, 30),
        NearDuplicatePair(5, 1, 40),
    ], "originals take precedence over neighbors"


def test_later_page_is_paired_with_a_stored_neighbor(db: Connection) -> None:
    store_chain(db)
    update_pairs(db)
    store_sketch(db, 5, build_sketch(0, 24), 5)
    assert update_pairs(db) == 1
    assert list(load_pairs(db))[-1] == NearDuplicatePair(5, 4, 30)


def test_pages_paired_with_a_changed_page_are_looked_up_again(db: Connection) -> None:
    store_chain(db)
    update_pairs(db)
    store_page(db, 1, OTHER, 5)
    assert update_pairs(db) == 4
    assert list(load_pairs(db)) == [NearDuplicatePair(3, 2, 30), NearDuplicatePair(4, 3, 30)]
    store_sketch(db, 2, CHAIN[1], 6)
    assert update_pairs(db) == 3
    assert list(load_pairs(db)) == [NearDuplicatePair(4, 3, 30)]


def test_number_of_neighbors_per_original_is_limited(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.dedup.near_duplicates.MAX_NEIGHBORS", 1)
    store_chain(db)
    update_pairs(db)
    assert list(load_pairs(db)) == [NearDuplicatePair(2, 1, 30), NearDuplicatePair(3, 2, 30)], (
        "the last page becomes an original"
    )
    store_sketch(db, 5, build_sketch(0, 14), 5)
    update_pairs(db)
    assert list(load_pairs(db))[-1] == NearDuplicatePair(5, 4, 20)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_stay_valid_and_acyclic_after_random_changes(db: Connection, seed: int) -> None:
    rng, sketches, visit = Random(seed), dict[int, int](), 0
    for _ in range(12):
        for url in rng.sample(range(1, 31), 8):
            visit += 1
            sketches[url] = build_sketch(rng.randrange(40), rng.randrange(12))
            store_sketch(db, url, sketches[url], visit)
        update_pairs(db)
        originals = {pair.url: pair.duplicate_of for pair in load_pairs(db)}
        assert all(
            (sketches[pair.url] ^ sketches[pair.duplicate_of]).bit_count() == pair.distance <= MAX_DISTANCE
            for pair in load_pairs(db)
        )
        for url in originals:
            seen = [url]
            while seen[-1] in originals:
                assert originals[seen[-1]] not in seen
                seen.append(originals[seen[-1]])


def sketch_pages(*texts: str) -> list[tuple[int, bytes]]:
    return [(url, sketch_text(text)) for url, text in enumerate(texts, 1)]


def test_incremental_pairing_finds_the_same_pairs(db: Connection) -> None:
    texts = TEXT, OTHER, TEXT + "Also in summer.", generate_text(3), OTHER, TEXT
    pairing = IncrementalPairing(db)
    pairing.add(sketch_pages(*texts)[:2])
    pairing.add(sketch_pages(*texts)[2:])
    for url, text in enumerate(texts, 1):
        store_page(db, url, text, url)
    update = find_pairs(db)
    assert pairing.get_update(db) == update
    assert len(update.pairs) == 3


def test_original_is_the_first_page_in_both_modes(db: Connection) -> None:
    arrived = [(url, sketch_text(TEXT)) for url in (7, 9, 2)]
    pairing = IncrementalPairing(db)
    pairing.add(arrived)
    for visit, (url, _) in enumerate(arrived, 1):
        store_page(db, url, TEXT, visit)
    update = find_pairs(db)
    assert [(pair.url, pair.duplicate_of) for pair in update.pairs] == [(9, 7), (2, 7)]
    assert pairing.get_update(db) == update


def test_incremental_pairing_is_off_for_an_existing_collection(db: Connection) -> None:
    store_page(db, 1, TEXT, 1)
    pairing = IncrementalPairing(db)
    pairing.add(sketch_pages(OTHER, TEXT)[1:])
    assert pairing.get_update(db) is None


def test_pages_that_were_not_stored_defer_pairing(db: Connection) -> None:
    pairing = IncrementalPairing(db)
    pairing.add(sketch_pages(TEXT, TEXT, OTHER))
    store_page(db, 1, TEXT, 1)
    store_page(db, 2, TEXT, 2)
    assert pairing.get_update(db) is None


def test_page_whose_original_is_gone_has_no_pair(db: Connection) -> None:
    store_page(db, 1, TEXT, 1)
    store_page(db, 2, TEXT, 2)
    update_pairs(db)
    db.execute("UPDATE pages SET status = 404 WHERE url = 1")
    assert list(load_pairs(db)) == []


def test_refetched_page_defers_pairing(db: Connection) -> None:
    pairing = IncrementalPairing(db)
    pairing.add(sketch_pages(TEXT, TEXT))
    store_page(db, 1, TEXT, 1)
    store_page(db, 2, TEXT, 2)
    assert pairing.get_update(db) is not None
    pairing.defer()
    pairing.add(sketch_pages(OTHER))
    assert pairing.get_update(db) is None


def test_large_crawl_defers_pairing(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.dedup.near_duplicates.MAX_INCREMENTAL_PAGES", 1)
    pairing = IncrementalPairing(db)
    pairing.add(sketch_pages(TEXT, TEXT))
    for url in (1, 2):
        store_page(db, url, TEXT, url)
    assert pairing.get_update(db) is not None
    pairing.add(sketch_pages(TEXT, TEXT, OTHER)[2:])
    assert pairing.get_update(db) is None


def test_migration_deletes_pairs_of_the_old_simhash(tmp_path: Path) -> None:
    with closing(connect_sqlite(tmp_path / "sanderling.db")) as db:
        apply_migrations(db, {"storage": STORAGE_MIGRATIONS[:3], "dedup": DEDUP_MIGRATIONS[:1]})
        db.executemany("INSERT INTO marks VALUES (?, 'simhash', ?)", [(1, b"8 bytes."), (2, b"8 bytes.")])
        db.execute("INSERT INTO near VALUES (2, 1, 3)")
        db.execute("INSERT INTO near_until VALUES (2)")
    with open_collection(tmp_path) as collection:
        assert list(load_pairs(collection.db)) == []
        assert update_pairs(collection.db) == 0, "pages are looked up after they are fetched again"
        store_page(collection.db, 1, TEXT, 3)
        store_page(collection.db, 2, TEXT, 4)
        assert update_pairs(collection.db) == 2
        assert [(pair.url, pair.duplicate_of) for pair in load_pairs(collection.db)] == [(2, 1)]


def test_pages_that_share_only_vocabulary_are_not_paired(db: Connection) -> None:
    words = TEXT.split()
    for url in range(1, 30):
        store_page(db, url, " ".join(Random(url).sample(words, len(words))), url)
    update_pairs(db)
    assert list(load_pairs(db)) == []
