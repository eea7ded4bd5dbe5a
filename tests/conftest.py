"""Fixtures and hooks shared by all tests."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.documents import index  # noqa: F401 - fixtures for all packages
from tests.support.native_library import guarded, native  # noqa: F401
from tests.support.plugins import install  # noqa: F401

REASON_WIDTH = 160  # some reasons quote server output

# No deadlines: properties are checked, not timed. CI uses the same examples in every run, so that failures reproduce.
settings.register_profile(
    "sanderling", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("sanderling")
os.environ.setdefault("SANDERLING_INDEX", "no")  # most CLI tests need no search index


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow test files first, so that no worker ends with a slow file."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print why tests were skipped, the most frequent reason first."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped if report.longrepr)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:>5} skipped: {' '.join(reason.split())[:REASON_WIDTH]}")


@pytest.fixture
def soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry failed pages at once instead of after seconds."""
    monkeypatch.setattr("sanderling.frontier.lease_outcome.RETRY_BASE_DELAY", 0.01)


@pytest.fixture(scope="session")
def suites() -> Path:
    """Return the folder of conformance data; tests are skipped without SANDERLING_SUITES."""
    folder = os.environ.get("SANDERLING_SUITES")
    if not folder:
        pytest.skip("SANDERLING_SUITES is not set: no conformance data")
    return Path(folder)


@pytest.fixture(scope="session")
def traces() -> Path:
    """Return the folder of recorded change histories; tests are skipped without SANDERLING_TRACES."""
    folder = os.environ.get("SANDERLING_TRACES")
    if not folder:
        pytest.skip("SANDERLING_TRACES is not set: no change histories")
    return Path(folder)
