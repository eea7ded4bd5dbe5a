"""Whom to believe when somebody says that a page changed."""

from sanderling.revisit.model.announcer_trust import AnnouncerTrust


def test_trust_is_learned_from_what_was_found() -> None:
    honest, liar = AnnouncerTrust(), AnnouncerTrust()
    for _ in range(50):
        honest.record_visit(True, True, 5.0)
        liar.record_visit(True, False, 5.0)
    assert honest.recall > 0.9
    assert honest.is_trusted
    assert not liar.is_trusted


def test_missed_changes_lower_the_recall() -> None:
    trust = AnnouncerTrust()
    for _ in range(50):
        trust.record_visit(False, True, 5.0)
    assert trust.recall < 0.1
