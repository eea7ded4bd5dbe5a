"""All comparisons of revisit policies in one command: freshness, delay, and sitemaps with errors, left-one-trace-out.

SANDERLING_TRACES=DIR python -m benchmarks.revisit.policy_report [--traces a,b] [--keep FILE] [--write]
"""

from benchmarks.revisit import change_delay, freshness, sitemap_errors


def main() -> None:
    """Run all three with the same options; each has its own intervals unless `--intervals` names some."""
    for comparison in (freshness, change_delay, sitemap_errors):
        comparison.main()


if __name__ == "__main__":
    main()
