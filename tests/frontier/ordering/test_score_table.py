from sanderling.frontier.ordering.score_table import FIRST, MOVES, Tally


def identity(value: float) -> float:
    return value


def test_numbers_are_kept_by_id() -> None:
    tally = Tally()
    tally.add(FIRST * 3, 2.0)
    assert tally[FIRST * 3] == 2.0
    assert tally[7] == 0.0


def test_beyond_the_limit_ids_share_places_and_memory_stays() -> None:
    tally = Tally(limit=FIRST)
    tally.add(FIRST * 1000 + 5, 1.0)
    assert tally[5] == 1.0
    assert len(tally.values) == FIRST


def test_only_what_rose_since_the_queue_was_told_moves() -> None:
    tally = Tally()
    tally.raise_to(1, 0.5)
    assert tally.moved(identity, 0.0) == {}
    tally.raise_to(1, 0.75)
    tally.raise_to(1, 0.25)
    assert tally.moved(identity, 0.0) == {1: 0.25}
    assert tally.moved(identity, 0.0) == {}


def test_small_rises_add_up_until_they_are_worth_a_move() -> None:
    tally = Tally()
    tally.raise_to(1, 1.0)
    tally.raise_to(1, 1.25)
    assert tally.moved(identity, 0.4) == {}
    tally.raise_to(1, 1.5)
    assert tally.moved(identity, 0.4) == {1: 0.5}


def test_a_visited_page_moves_no_more() -> None:
    tally = Tally()
    tally.raise_to(1, 0.5)
    tally.visit(1)
    tally.raise_to(1, 0.75)
    assert tally.moved(identity, 0.0) == {}


def test_the_largest_rises_move_first_and_the_rest_later() -> None:
    tally = Tally()
    for id_ in range(1, MOVES + 11):
        tally.raise_to(id_, 1.0)
        tally.raise_to(id_, 1.0 + id_)
    first = tally.moved(identity, 0.0)
    assert len(first) == MOVES
    assert min(first) == 11
    tally.touch(range(1, 11))
    assert set(tally.moved(identity, 0.0)) == set(range(1, 11))


def test_what_was_dumped_is_loaded() -> None:
    tally, other = Tally(), Tally()
    tally.raise_to(FIRST + 1, 2.0)
    tally.visit(3)
    other.load(tally.dump())
    assert other[FIRST + 1] == 2.0
    assert other.has_visited(3)
    assert other.mask == tally.mask
