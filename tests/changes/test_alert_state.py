from pathlib import Path

from sanderling.changes.alert_state import OVERLAP_SECONDS, AlertState, load_alert_states, save_alert_states


def test_changes_of_the_last_hour_are_remembered() -> None:
    state = AlertState()
    state.add([("a", 10_000.0), ("b", 10_000.0 - OVERLAP_SECONDS - 1)])
    assert state.since <= 10_000.0 - OVERLAP_SECONDS
    assert state.sent_changes == [("a", 10_000.0)]
    state.add([("late", 9_000.0)])
    assert (state.until, state.sent_changes) == (10_000.0, [("a", 10_000.0), ("late", 9_000.0)])


def test_state_is_saved_and_a_damaged_file_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "alerted"
    assert load_alert_states(path) == {}
    save_alert_states(path, {"x": AlertState(5.0, [("a", 5.0)])})
    assert load_alert_states(path) == {"x": AlertState(5.0, [("a", 5.0)])}
    path.write_text("1700000000.5")
    assert load_alert_states(path) == {}
