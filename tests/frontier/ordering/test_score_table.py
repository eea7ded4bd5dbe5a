"""Score tables of orderings."""

from sanderling.db.id_range import build_id_range
from sanderling.frontier.ordering.score_table import INITIAL_SIZE, MAX_GAINS, ScoreTable


def identity(value: float) -> float:
    return value


def test_scores_are_stored_by_id() -> None:
    table = ScoreTable()
    table.add(INITIAL_SIZE * 3, 2.0)
    assert table[INITIAL_SIZE * 3] == 2.0
    assert table[7] == 0.0


def test_ids_share_slots_beyond_the_limit() -> None:
    table = ScoreTable(max_size=INITIAL_SIZE)
    table.add(INITIAL_SIZE * 1000 + 5, 1.0)
    assert table[5] == 1.0
    assert len(table.values) == INITIAL_SIZE


def test_only_gains_since_the_last_update_are_returned() -> None:
    table = ScoreTable()
    table.raise_score(1, 0.5)
    assert table.pop_gains(identity, 0.0) == {}
    table.raise_score(1, 0.75)
    table.raise_score(1, 0.25)
    assert table.pop_gains(identity, 0.0) == {1: 0.25}
    assert table.pop_gains(identity, 0.0) == {}


def test_small_gains_accumulate() -> None:
    table = ScoreTable()
    table.raise_score(1, 1.0)
    table.raise_score(1, 1.25)
    assert table.pop_gains(identity, 0.4) == {}
    table.raise_score(1, 1.5)
    assert table.pop_gains(identity, 0.4) == {1: 0.5}


def test_visited_page_has_no_gain() -> None:
    table = ScoreTable()
    table.raise_score(1, 0.5)
    table.mark_visited(1)
    table.raise_score(1, 0.75)
    assert table.pop_gains(identity, 0.0) == {}


def test_largest_gains_are_returned_first() -> None:
    table = ScoreTable()
    for id_ in range(1, MAX_GAINS + 11):
        table.raise_score(id_, 1.0)
        table.raise_score(id_, 1.0 + id_)
    first = table.pop_gains(identity, 0.0)
    assert len(first) == MAX_GAINS
    assert min(first) == 11
    table.mark_changed(range(1, 11))
    assert set(table.pop_gains(identity, 0.0)) == set(range(1, 11))


def test_dump_and_load() -> None:
    table, other = ScoreTable(), ScoreTable()
    table.raise_score(INITIAL_SIZE + 1, 2.0)
    table.mark_visited(3)
    other.load(table.dump())
    assert other[INITIAL_SIZE + 1] == 2.0
    assert other.is_visited(3)
    assert other.mask == table.mask


def test_table_of_a_shard_is_as_small_as_without_shards() -> None:
    table = ScoreTable()
    first = build_id_range(3).first
    table.add(first, 1.0)
    assert len(table.values) == INITIAL_SIZE
    table.add(first + INITIAL_SIZE, 2.0)
    assert (table[first], table[first + INITIAL_SIZE], len(table.values)) == (1.0, 2.0, 2 * INITIAL_SIZE)
