"""IPC Tables 1 and 2, and the allocator."""

from experiments.paper_methods import interleave_lists
from hypothesis import given
from hypothesis import strategies as st

from sanderling.frontier.ordering.pvalue import compute_pvalue, estimate_forward_links, sort_by_value, split_evenly

# IPC Table 1 as printed: page, forward links; all back links are 0.
TABLE_1 = [
    *(("jiit.ac.in", 20), ("RTI", 18), ("department", 11), ("PROJ_SPONS", 4), ("curri_obj", 3), ("google", 40)),
    *(("rediffmail", 79), ("gmail", 65), ("yahoo", 155), ("ugc", 60), ("regional_offices", 21), ("fac_dev", 13)),
    *(("payorder", 52), ("modelcurr", 60), ("uni", 15), ("contact", 5), ("fakealerts", 16), ("directory", 53)),
]


def test_table_2_with_swapped_rows_corrected() -> None:
    lists = split_evenly(sort_by_value((page, compute_pvalue(forward, 0)) for page, forward in TABLE_1))
    values = [[value for _, value in part] for part in lists]
    assert values == [[155, 79, 65, 60, 60, 53], [52, 40, 21, 20, 18, 16], [15, 13, 11, 5, 4, 3]]
    assert [page for page, _ in lists[0]][3:] == ["ugc", "modelcurr", "directory"]  # ties keep their order


def test_allocator_takes_4_2_1() -> None:
    allocated = [value for _, value in interleave_lists(split_evenly(sort_by_value(TABLE_1)))]
    assert allocated == [155, 79, 65, 60, 52, 40, 15, 60, 53, 21, 20, 13, 18, 16, 11, 5, 4, 3]


def test_remainder_goes_to_the_first_lists() -> None:
    assert [len(part) for part in split_evenly(range(20))] == [7, 7, 6]
    assert [len(part) for part in split_evenly(range(2))] == [1, 1, 0]


def test_backlinks_lower_the_value() -> None:
    assert compute_pvalue(10, 3) == 7
    assert sort_by_value([("broken", compute_pvalue(0, 2)), ("new", compute_pvalue(5, 0))])[-1] == ("broken", -2)


def test_first_known_estimate_is_used() -> None:
    assert estimate_forward_links(7, 3, 2) == 7
    assert estimate_forward_links(None, 3, 2) == 3
    assert estimate_forward_links(None, None, 2) == 2
    assert estimate_forward_links(None) == 0
    assert estimate_forward_links(0, 3) == 0  # 0 is a known count


@given(st.lists(st.integers(), max_size=60))
def test_allocator_yields_everything_once_without_starvation(items: list[int]) -> None:
    lists = split_evenly(items)
    allocated = list(interleave_lists([[(number, item) for item in part] for number, part in enumerate(lists)]))
    assert sorted(item for _, item in allocated) == sorted(items)
    remaining = [len(part) for part in lists]
    for start in range(0, len(allocated), 7):
        if remaining[0] >= 4 and remaining[1] >= 2 and remaining[2] >= 1:
            window = [number for number, _ in allocated[start : start + 7]]
            assert window == [0, 0, 0, 0, 1, 1, 2]
        for number, _ in allocated[start : start + 7]:
            remaining[number] -= 1
