from msgspec.structs import replace

from sanderling.revisit.announcements import record_result
from sanderling.revisit.site_model import Elapsed, SiteModel
from sanderling.revisit.visit_history import DAY, start_history

STAMPED = replace(start_history(0.0), announcer_bits=1, announcement_count=60)


def count_false(has_changed: bool) -> float:
    after = replace(STAMPED, last_visit=60 * DAY, visits=2, changes=int(has_changed), announcement_count=0)
    return record_result(STAMPED, after, SiteModel(DAY), Elapsed(60.0, 60.0)).false_announcements


def test_every_date_of_an_unchanged_page_is_a_false_announcement() -> None:
    assert count_false(has_changed=False) == 60


def test_dates_beyond_the_expected_changes_are_false_announcements() -> None:
    assert 55 < count_false(has_changed=True) < 59
