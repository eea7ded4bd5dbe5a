"""What was told to whom."""

from pathlib import Path

from sanderling.changes.alert_state import OVERLAP_SECONDS, AlertState, load_alert_states, save_alert_states


def test_what_was_stored_late_is_looked_at_again_and_what_was_told_is_known() -> None:
    heard = AlertState()
    heard.add([("a", 10_000.0), ("b", 10_000.0 - OVERLAP_SECONDS - 1)])
    assert heard.since <= 10_000.0 - OVERLAP_SECONDS
    assert heard.sent_changes == [("a", 10_000.0)]
    heard.add([("late", 9_000.0)])
    assert (heard.until, heard.sent_changes) == (10_000.0, [("a", 10_000.0), ("late", 9_000.0)])


def test_what_was_heard_is_kept_on_the_disk_and_a_broken_file_is_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "alerted"
    assert load_alert_states(path) == {}
    save_alert_states(path, {"x": AlertState(5.0, [("a", 5.0)])})
    assert load_alert_states(path) == {"x": AlertState(5.0, [("a", 5.0)])}
    path.write_text("1700000000.5")
    assert load_alert_states(path) == {}
