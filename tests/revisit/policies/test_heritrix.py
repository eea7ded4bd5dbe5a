"""The Heritrix policy."""

from sanderling.revisit.policies.heritrix import MAX_WAIT, MIN_WAIT, compute_next_wait


def test_wait_changes_by_half_within_bounds() -> None:
    assert compute_next_wait(86_400, has_changed=False) == 129_600
    assert compute_next_wait(86_400, has_changed=True) == 57_600
    assert compute_next_wait(MIN_WAIT, has_changed=True) == MIN_WAIT
    assert compute_next_wait(MAX_WAIT, has_changed=False) == MAX_WAIT
