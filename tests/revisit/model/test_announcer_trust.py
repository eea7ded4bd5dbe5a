"""Trust in announcers."""

from sanderling.revisit.model.announcer_trust import AnnouncerTrust


def test_trust_is_learned_from_visits() -> None:
    reliable, unreliable = AnnouncerTrust(), AnnouncerTrust()
    for _ in range(50):
        reliable.record_visit(True, True, 5.0)
        unreliable.record_visit(True, False, 5.0)
    assert reliable.recall > 0.9
    assert reliable.is_trusted
    assert not unreliable.is_trusted


def test_missed_changes_lower_recall() -> None:
    trust = AnnouncerTrust()
    for _ in range(50):
        trust.record_visit(False, True, 5.0)
    assert trust.recall < 0.1
