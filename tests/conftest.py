"""What every test may ask for."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.documents import index  # noqa: F401 - fixtures for all packages
from tests.support.native_library import guarded, native  # noqa: F401

REASON_WIDTH = 160  # letters of a reason; some quote what a server printed

# A slow machine is no failure: properties are held true, not timed. Continuous integration tries the same examples each
# time, so that what fails there fails here; everybody else tries new ones.
settings.register_profile(
    "sanderling", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("sanderling")
os.environ.setdefault("SANDERLING_INDEX", "no")  # most tests of commands want no index beside them; some ask for it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: where several run at once, none of them is to be the last."""
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
    """Pages that could not be had are tried again at once, not seconds later."""
    monkeypatch.setattr("sanderling.frontier.lease_outcome.RETRY_BASE_DELAY", 0.01)


@pytest.fixture(scope="session")
def suites() -> Path:
    """The folder of test data others wrote; tests that need it are skipped where it is not set."""
    folder = os.environ.get("SANDERLING_SUITES")
    if not folder:
        pytest.skip("SANDERLING_SUITES names no folder: conformance data is not at hand")
    return Path(folder)


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of real change histories."""
    folder = os.environ.get("SANDERLING_TRACES")
    if not folder:
        pytest.skip("SANDERLING_TRACES names no folder: change histories are not at hand")
    return Path(folder)
