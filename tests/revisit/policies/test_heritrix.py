"""The rule of Heritrix."""

from sanderling.revisit.policies.heritrix import MAX_WAIT, MIN_WAIT, compute_next_wait


def test_the_wait_moves_by_half_and_stays_within_bounds() -> None:
    assert compute_next_wait(86_400, has_changed=False) == 129_600
    assert compute_next_wait(86_400, has_changed=True) == 57_600
    assert compute_next_wait(MIN_WAIT, has_changed=True) == MIN_WAIT
    assert compute_next_wait(MAX_WAIT, has_changed=False) == MAX_WAIT
