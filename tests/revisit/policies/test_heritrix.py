"""The rule of Heritrix."""

from sanderling.revisit.policies.heritrix import LONGEST, SHORTEST, next_wait


def test_the_wait_moves_by_half_and_stays_within_bounds() -> None:
    assert next_wait(86_400, changed=False) == 129_600
    assert next_wait(86_400, changed=True) == 57_600
    assert next_wait(SHORTEST, changed=True) == SHORTEST
    assert next_wait(LONGEST, changed=False) == LONGEST
