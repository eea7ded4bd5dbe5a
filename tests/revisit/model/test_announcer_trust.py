"""Whom to believe when somebody says that a page changed."""

from sanderling.revisit.model.announcer_trust import Trust


def test_trust_is_learned_from_what_was_found() -> None:
    honest, liar = Trust(), Trust()
    for _ in range(50):
        honest.tell(True, True, 5.0)
        liar.tell(True, False, 5.0)
    assert honest.recall > 0.9
    assert honest.is_believed
    assert not liar.is_believed


def test_missed_changes_lower_the_recall() -> None:
    trust = Trust()
    for _ in range(50):
        trust.tell(False, True, 5.0)
    assert trust.recall < 0.1
