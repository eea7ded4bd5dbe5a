from sanderling.frontier.ordering.score_table import INITIAL_SIZE, MAX_GAINS, ScoreTable


def identity(value: float) -> float:
    return value


def test_numbers_are_kept_by_id() -> None:
    tally = ScoreTable()
    tally.add(INITIAL_SIZE * 3, 2.0)
    assert tally[INITIAL_SIZE * 3] == 2.0
    assert tally[7] == 0.0


def test_beyond_the_limit_ids_share_places_and_memory_stays() -> None:
    tally = ScoreTable(max_size=INITIAL_SIZE)
    tally.add(INITIAL_SIZE * 1000 + 5, 1.0)
    assert tally[5] == 1.0
    assert len(tally.values) == INITIAL_SIZE


def test_only_what_rose_since_the_queue_was_told_moves() -> None:
    tally = ScoreTable()
    tally.raise_score(1, 0.5)
    assert tally.pop_gains(identity, 0.0) == {}
    tally.raise_score(1, 0.75)
    tally.raise_score(1, 0.25)
    assert tally.pop_gains(identity, 0.0) == {1: 0.25}
    assert tally.pop_gains(identity, 0.0) == {}


def test_small_rises_add_up_until_they_are_worth_a_move() -> None:
    tally = ScoreTable()
    tally.raise_score(1, 1.0)
    tally.raise_score(1, 1.25)
    assert tally.pop_gains(identity, 0.4) == {}
    tally.raise_score(1, 1.5)
    assert tally.pop_gains(identity, 0.4) == {1: 0.5}


def test_a_visited_page_moves_no_more() -> None:
    tally = ScoreTable()
    tally.raise_score(1, 0.5)
    tally.mark_visited(1)
    tally.raise_score(1, 0.75)
    assert tally.pop_gains(identity, 0.0) == {}


def test_the_largest_rises_move_first_and_the_rest_later() -> None:
    tally = ScoreTable()
    for id_ in range(1, MAX_GAINS + 11):
        tally.raise_score(id_, 1.0)
        tally.raise_score(id_, 1.0 + id_)
    first = tally.pop_gains(identity, 0.0)
    assert len(first) == MAX_GAINS
    assert min(first) == 11
    tally.mark_changed(range(1, 11))
    assert set(tally.pop_gains(identity, 0.0)) == set(range(1, 11))


def test_what_was_dumped_is_loaded() -> None:
    tally, other = ScoreTable(), ScoreTable()
    tally.raise_score(INITIAL_SIZE + 1, 2.0)
    tally.mark_visited(3)
    other.load(tally.dump())
    assert other[INITIAL_SIZE + 1] == 2.0
    assert other.is_visited(3)
    assert other.mask == tally.mask
