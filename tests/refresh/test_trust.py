"""Whom to believe when somebody says that a page changed."""

from sanderling.refresh.trust import Trust, is_stamped

DAY = 86_400.0


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


def test_dates_of_the_build_are_known_as_such() -> None:
    assert is_stamped([1000.0] * 20)
    days = [5 * DAY + n for n in range(20)]
    assert not is_stamped(days)
    assert is_stamped([at + DAY for at in days], days)
    assert not is_stamped([1000.0] * 3)
