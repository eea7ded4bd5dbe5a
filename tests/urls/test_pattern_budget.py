"""URL limits per pattern."""

from sanderling.urls.pattern_budget import PatternBudget


def _build_budget(entries: int = 1000) -> PatternBudget:
    return PatternBudget(limits=(4, 3, 2, 1), max_parameter_sets=2, max_patterns=entries)


def _are_rejected(budget: PatternBudget, *urls: str) -> list[bool]:
    return [bool(budget.count_url(url)) for url in urls]


def test_plain_paths_are_never_rejected() -> None:
    budget = _build_budget()
    assert not any(_are_rejected(budget, *(f"http://x/page/{n}.html" for n in range(100))))
    assert len(budget) == 0


def test_limit_decreases_with_the_number_of_parameters() -> None:
    budget = _build_budget()
    assert _are_rejected(budget, *(f"http://x/a?p={n}" for n in range(5))) == [False] * 3 + [True] * 2
    assert _are_rejected(budget, *(f"http://x/b?p={n}&q=1" for n in range(4))) == [False] * 2 + [True] * 2
    assert _are_rejected(budget, *(f"http://x/c?p={n}&q=1&r=2&s=3" for n in range(3))) == [False] + [True] * 2


def test_order_of_parameters_does_not_matter() -> None:
    assert _are_rejected(_build_budget(), "http://x/a?p=1&q=1", "http://x/a?q=2&p=2", "http://x/a?p=3&q=3") == [
        False,
        False,
        True,
    ]


def test_numbers_in_a_path_do_not_matter() -> None:
    assert _are_rejected(_build_budget(), *(f"http://x/{n}/a?p=1" for n in range(4))) == [False] * 3 + [True]


def test_dates_in_a_path_are_counted() -> None:
    assert _are_rejected(_build_budget(), *(f"http://x/cal/19{n}/05" for n in range(10, 15))) == [False] * 4 + [True]


def test_sets_of_parameters_are_limited() -> None:
    assert _are_rejected(_build_budget(), "http://x/a?p=1", "http://x/a?q=1", "http://x/a?r=1") == [False, False, True]


def test_each_host_has_its_own_count() -> None:
    budget = _build_budget()
    _are_rejected(budget, *(f"http://x/a?p={n}" for n in range(5)))
    assert _are_rejected(budget, "http://y/a?p=1") == [False]


def test_rarest_patterns_are_evicted() -> None:
    budget = PatternBudget(limits=(4, 3, 2, 1), max_parameter_sets=2, max_patterns=100)
    _are_rejected(budget, *(f"http://x/a?p={n}" for n in range(5)))
    for n in range(5000):
        budget.count_url(f"http://x/{'ab'[n % 2]}{'c' * (n // 2)}?p")
    assert len(budget) <= 100
    assert _are_rejected(budget, "http://x/a?p=6") == [True]


def test_counts_survive_a_restart() -> None:
    before, after = _build_budget(), _build_budget()
    _are_rejected(before, *(f"http://x/a?p={n}" for n in range(5)))
    after.load(before.dump())
    assert _are_rejected(after, "http://x/a?p=6", "http://x/b?p=1") == [True, False]
