"""A URL pattern is exhausted when its last pages had no new content and led to none."""

from random import Random

import pytest

from sanderling.frontier import repeated_content
from sanderling.frontier.repeated_content import RepeatedContent
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, Reason, Url, UrlRole, UrlSource, UrlState

LIMIT = 100


def hash_of(text: object) -> bytes:
    return Random(str(text)).randbytes(8)


def record(
    tracker: RepeatedContent, number: int, content: object, *targets: str, path: str = "/cal?d=",
    is_known: bool = False, is_leaf: bool = False,
) -> bool:  # fmt: skip
    """Record a page that links to `targets` and, unless it is a leaf, to the next page of its pattern."""
    targets = targets if is_leaf else (*targets, f"{path}{number + 1}")
    entries = [
        FrontierEntry(CandidateUrl(Url(f"https://a.org{target}"), referrer_id=number), UrlState.QUEUED)
        for target in targets
    ]
    tracker.record_leads(entries)
    return tracker.record_page(number, f"https://a.org{path}{number}", hash_of(content), is_known=is_known)


def test_pattern_is_exhausted_once_by_pages_without_new_content() -> None:
    tracker = RepeatedContent(LIMIT)
    assert [record(tracker, n, "no events") for n in range(LIMIT + 5)].index(True) == LIMIT - 1
    assert not record(tracker, 999, "no events")
    assert tracker.describe_rejection("https://a.org/cal?d=5000") == (
        f"the last {LIMIT} pages of https://a.org/cal?d had no new content"
    )
    assert not tracker.describe_rejection("https://a.org/cal?m=5000")


def test_different_pages_are_never_exhausted() -> None:
    tracker = RepeatedContent(LIMIT)
    assert not any(record(tracker, n, n) for n in range(LIMIT * 10))


@pytest.mark.parametrize(("interval", "is_exhausted"), [(30, False), (60, True)])
def test_share_of_pages_with_new_content_decides(interval: int, is_exhausted: bool) -> None:
    tracker = RepeatedContent(LIMIT)
    assert any(record(tracker, n, n if n % interval == 0 else "empty") for n in range(LIMIT * 4)) is is_exhausted


def test_equal_pages_without_new_links_are_continued_for_longer() -> None:
    """Shells of pages that scripts build say the same, and their number is finite."""
    tracker = RepeatedContent(LIMIT)
    exhausted = [record(tracker, n, "loading", is_leaf=True) for n in range(LIMIT * 11)]
    assert exhausted.index(True) == LIMIT * 10 - 1


def test_first_page_with_a_new_link_exhausts_equal_pages() -> None:
    tracker = RepeatedContent(LIMIT)
    assert not any(record(tracker, n, "loading", is_leaf=True) for n in range(LIMIT * 2))
    assert record(tracker, 9_000, "loading")


def test_content_may_return_after_many_other_pages() -> None:
    """Session ids: the same thousand pages again and again."""
    tracker = RepeatedContent(LIMIT)
    exhausted = [record(tracker, n, n % 1000) for n in range(1000 + LIMIT)]
    assert exhausted.index(True) in range(1000 + LIMIT - 5, 1000 + LIMIT)


def test_pages_that_lead_to_new_content_are_continued() -> None:
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT * 3):
        assert not record(tracker, n, "choose an item", f"/item?id={n}")
        assert not record(tracker, 10_000 + n, n, path="/item?id=")


def test_pages_that_lead_to_new_content_over_others_are_continued() -> None:
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT * 3):
        assert not record(tracker, n, "choose a group", f"/group?g={n}")
        assert not record(tracker, 10_000 + n, "choose an item", f"/item?id={n}", path="/group?g=")
        record(tracker, 20_000 + n, n, path="/item?id=")


def test_exhausted_patterns_that_lead_to_each_other_are_stopped() -> None:
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT * 2):
        record(tracker, n, "day", f"/week?w={n}")
        record(tracker, 10_000 + n, "week", f"/cal?d={n}", path="/week?w=")
    assert len(tracker.exhausted) == 2


def test_new_urls_that_are_no_pages_do_not_count() -> None:
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT * 3):
        record(tracker, n, "day", f"/add?date={n}")
        tracker.record_missing(f"https://a.org/add?date={n}")
    assert len(tracker.exhausted) == 1


def test_skipped_urls_and_requisites_are_no_leads() -> None:
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT):
        target = Url(f"https://a.org/x?n={n}")
        skipped = FrontierEntry(CandidateUrl(target, referrer_id=n), UrlState.SKIPPED, Reason.TRAP)
        image = CandidateUrl(target, referrer_id=n, role=UrlRole.REQUISITE, source=UrlSource.LINK)
        tracker.record_leads([skipped, FrontierEntry(image, UrlState.QUEUED)])
        record(tracker, n, "day")
    assert len(tracker.exhausted) == 1


def test_changed_page_reopens_a_pattern_only_with_new_content() -> None:
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT):
        record(tracker, n, "empty")
    for n in range(LIMIT):
        record(tracker, n, "empty", is_known=True)
    assert tracker.exhausted
    for n in range(3):
        record(tracker, n, f"news {n}", is_known=True)
    assert not tracker.exhausted


def test_revisits_of_honest_pages_exhaust_nothing() -> None:
    tracker = RepeatedContent(LIMIT)
    for _ in range(5):
        for n in range(LIMIT):
            assert not record(tracker, n, n, is_known=True)


def test_new_session_tries_a_quarter_of_the_pages() -> None:
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT):
        record(tracker, n, "empty")
    tracker.start_session()
    assert not tracker.exhausted
    assert [record(tracker, LIMIT + n, "empty") for n in range(LIMIT)].index(True) == LIMIT // 4 - 1


def test_limit_of_zero_disables_it() -> None:
    tracker = RepeatedContent(0)
    assert not any(record(tracker, n, "empty", "/x?n=1") for n in range(1000))
    assert tracker.pattern_count == 0


def test_state_survives_a_restart() -> None:
    tracker, restarted = RepeatedContent(LIMIT), RepeatedContent(LIMIT)
    stored: dict[int, bytes] = {}
    for n in range(LIMIT - 1):
        record(tracker, n, "empty")
        stored.update(tracker.pack_changes()[0])
    assert len(stored) == 1  # what a crash leaves
    stored.update(tracker.pack_all()[0])
    restarted.load(stored.items())
    assert record(restarted, LIMIT, "empty")
    third = RepeatedContent(LIMIT)
    third.load(restarted.pack_changes()[0])
    assert third.exhausted == restarted.exhausted
    other_limit = RepeatedContent(2 * LIMIT)
    other_limit.load(restarted.pack_all()[0] or [(p, restarted._pack(p)) for p in restarted.exhausted])
    assert not other_limit.exhausted


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_content, "MAX_PATTERNS", 50)
    monkeypatch.setattr(repeated_content, "MAX_CONTENTS", 200)
    monkeypatch.setattr(repeated_content, "MAX_TOTAL_CONTENTS", 1000)
    tracker = RepeatedContent(LIMIT)
    for n in range(LIMIT):
        record(tracker, n, "empty")
    for pattern in range(60):
        for n in range(300):
            record(tracker, n, (pattern, n), path=f"/{'abcdefghij'[pattern % 10] * (pattern + 1)}?d=")
    assert tracker.pattern_count <= 50
    assert tracker._content_count == sum(map(len, tracker._contents.values())) <= 1000
    assert len(tracker.exhausted) == 1  # is remembered without its history
    changed, dropped = tracker.pack_changes()
    assert len(changed) <= 50
    assert dropped


def test_page_that_is_not_compared_ends_a_row_of_missing_ones() -> None:
    """The pages of one pattern lead to another, whose pages exist between many that do not."""
    tracker = RepeatedContent(LIMIT)
    tracker.record_page(1, "https://a.org/item?id=1", hash_of("item"))
    for n in range(LIMIT - 1):
        tracker.record_missing(f"https://a.org/item?id=m{n}")
    tracker.record_uncompared("https://a.org/item?id=2")
    tracker.record_missing("https://a.org/item?id=m")
    assert not any(record(tracker, n, "shell", f"/item?id=x{n}") for n in range(LIMIT * 2))
