"""The default policy on synthetic sites, compared with the fixed policy and an oracle."""

import pytest
from benchmarks.revisit.histories import DAY, Life, Trace
from benchmarks.revisit.synthetic_histories import DAYS, START, history
from benchmarks.revisit.trace_replay import Crawler, Oracle, replay

from sanderling.revisit.policies.policy_registry import DEFAULT_POLICY, POLICIES

PAGES = 72
MIN_GAP_CLOSED = {
    "imagined-slow": 0.25,
    "imagined-folders": 0.4,
    "imagined-batches": 0.7,
}  # share of the gap to the oracle


def trace(kind: str) -> Trace:
    end = START + DAYS * DAY
    rows = [history(kind, number, seed=7) for number in range(PAGES)]
    lives = [
        Life(str(row["page"]), START, end, [START, *row["changes"]], row["ver"])  # type: ignore[misc, arg-type]
        for row in rows
    ]
    return Trace(kind, START, end, lives)


@pytest.mark.parametrize("kind", sorted(MIN_GAP_CLOSED))
def test_default_policy_beats_fixed_policy_on_synthetic_sites(kind: str) -> None:
    pages = trace(kind)
    uniform, learned = (
        replay(pages, 30.0, Crawler(POLICIES[name], pages, 30.0, told=False)) for name in ("fixed", DEFAULT_POLICY)
    )
    oracle = replay(pages, 30.0, Oracle(pages))
    assert learned.visits == uniform.visits == oracle.visits
    assert learned.freshness - uniform.freshness > MIN_GAP_CLOSED[kind] * (oracle.freshness - uniform.freshness)
    assert learned.age < uniform.age
