"""Fixtures and hooks for all tests."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.documents import index  # noqa: F401 - fixtures for all packages
from tests.support.native_library import guarded, native  # noqa: F401

REASON_WIDTH = 160  # characters; some reasons quote server output

# No deadlines, because a slow machine is not a failure. CI uses the same examples each time, so that failures can be
# reproduced; local runs use new ones.
settings.register_profile(
    "sanderling", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("sanderling")
os.environ.setdefault("SANDERLING_INDEX", "no")  # most command tests need no search index; some enable it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run files with slow tests first, so that parallel runs do not end with them."""
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
    """Retry failed fetches at once."""
    monkeypatch.setattr("sanderling.frontier.lease_outcome.RETRY_BASE_DELAY", 0.01)


@pytest.fixture(scope="session")
def suites() -> Path:
    """Return the folder of third-party conformance data; skips the test if it is not set."""
    folder = os.environ.get("SANDERLING_SUITES")
    if not folder:
        pytest.skip("SANDERLING_SUITES is not set: no conformance data")
    return Path(folder)


@pytest.fixture(scope="session")
def traces() -> Path:
    """Return the folder of real change histories; skips the test if it is not set."""
    folder = os.environ.get("SANDERLING_TRACES")
    if not folder:
        pytest.skip("SANDERLING_TRACES is not set: no change histories")
    return Path(folder)
