"""All revisit policies by name; the default performed best (docs/measurements/benchmarks.md)."""

from sanderling.revisit.policies import (
    cho,
    fixed,
    heritrix,
    lambda_crawl,
    learned,
    nutch,
    self_adjusting,
    sitemap_driven,
)
from sanderling.revisit.policies.policy import RevisitPolicy

DEFAULT_POLICY = "learned"
POLICIES: dict[str, RevisitPolicy] = {
    module.POLICY.name: module.POLICY
    for module in (learned, fixed, sitemap_driven, self_adjusting, nutch, heritrix, cho, lambda_crawl)
}
