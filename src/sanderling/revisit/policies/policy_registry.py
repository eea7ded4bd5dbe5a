"""All revisit policies by name; the default performed best (docs/measurements/benchmarks.md)."""

from sanderling.revisit.policies import learned
from sanderling.revisit.policies.classic_policies import CLASSIC_POLICIES
from sanderling.revisit.policies.policy import RevisitPolicy

DEFAULT_POLICY = learned.POLICY.name
POLICIES: dict[str, RevisitPolicy] = {policy.name: policy for policy in (learned.POLICY, *CLASSIC_POLICIES)}
