"""Tests of aggregating, writing, and reading signals."""

from pathlib import Path

import pytest

from sanderling.storage import signal_log
from sanderling.storage.signal_log import (
    SIGNAL_LOG_FILE,
    Signal,
    SignalEvent,
    SignalLog,
    append_events,
    load_last_events,
)


def test_repeated_signal_is_written_as_a_single_line(tmp_path: Path) -> None:
    log = SignalLog(tmp_path)
    for number in range(1000):
        log.record(Signal.RANK_URLS, 3, f"url {number}")
    log.record(Signal.CHECK, 0)
    log.write()
    assert len((tmp_path / SIGNAL_LOG_FILE).read_text().splitlines()) == 1
    assert (
        load_last_events(tmp_path)[Signal.RANK_URLS].count,
        load_last_events(tmp_path)[Signal.RANK_URLS].detail,
    ) == (3000, "url 999")


def test_last_event_is_returned_and_invalid_lines_are_ignored(tmp_path: Path) -> None:
    append_events(tmp_path, [SignalEvent(1.0, Signal.DONE, 1, "first"), SignalEvent(2.0, Signal.DONE, 7, "two\nlines")])
    with (tmp_path / SIGNAL_LOG_FILE).open("ab") as file:
        file.write(b"\xff\xfe nonsense\n2026-01-01T00:00:00Z unknown_signal 1\n2026-01-01T00:00:00Z done")
    assert load_last_events(tmp_path) == {Signal.DONE: SignalEvent(2.0, Signal.DONE, 7, "two lines")}
    assert load_last_events(tmp_path / "missing") == {}


def test_log_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal_log, "MAX_LOG_BYTES", 100)
    for _ in range(20):
        append_events(tmp_path, [SignalEvent(1.0, Signal.DONE, 1, "x" * 500)])
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 1000
