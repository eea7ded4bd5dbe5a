from sanderling.changes.changed_text import ChangedText
from sanderling.changes.classify import ChangeKind, PageChange
from sanderling.changes.feed import ReportedChange
from sanderling.changes.word_diff import DiffOperation, DiffPiece
from sanderling.monitor.minor_changes import MinorChange, MinorChanges, is_minor

LINKS = PageChange((ChangeKind.LINKS,), 0.1)


def build_change(page: int, *links: str, at: float = 1000.0) -> MinorChange:
    """Build the change of a page by links such as `+/new` and `-/old`."""
    texts = tuple(
        ChangedText("added" if link[0] == "+" else "removed", (DiffPiece(DiffOperation.ADDED, link[1:]),), "link")
        for link in links
    )
    event = ReportedChange(f"http://a.test/{page}", at, 0.0, LINKS, "", 200, texts)
    return MinorChange(1, page, 100 + page, event)


def take_links(held: MinorChanges, now: float = 1000.0) -> dict[int, list[str]]:
    return {one.url_id: [text.pieces[0].text for text in one.event.texts] for one in held.take_shared(now)}


def test_only_changes_outside_the_main_content_are_minor() -> None:
    assert is_minor(LINKS)
    assert not is_minor(PageChange((ChangeKind.CONTENT, ChangeKind.LINKS), 0.5))
    assert not is_minor(PageChange((ChangeKind.GONE,), 1.0))
    assert not is_minor(PageChange())


def test_menu_entry_on_three_pages_is_reported_with_the_shared_link_only() -> None:
    held = MinorChanges()
    for page in (1, 2):
        held.add(build_change(page, "+/contact", f"+/own-{page}"))
    assert take_links(held) == {}
    held.add(build_change(3, "+/contact"))
    assert take_links(held) == {1: ["/contact"], 2: ["/contact"], 3: ["/contact"]}
    assert take_links(held) == {}


def test_recommendations_that_come_and_go_are_not_reported() -> None:
    held = MinorChanges()
    for page in range(4):
        held.add(build_change(page, "+/a", "-/b"))
    for page in range(4, 8):
        held.add(build_change(page, "+/b", "-/a"))
    assert take_links(held) == {}


def test_link_on_few_of_many_changed_pages_is_not_reported() -> None:
    held = MinorChanges()
    for page in range(20):
        held.add(build_change(page, f"+/{page // 4}"))
    assert take_links(held) == {}


def test_old_changes_are_forgotten() -> None:
    held = MinorChanges()
    held.add(build_change(1, "+/contact"))
    held.add(build_change(2, "+/contact"))
    take_links(held, 200_000.0)
    held.add(build_change(3, "+/contact", at=200_000.0))
    assert take_links(held, 200_000.0) == {}


def test_notice_that_replaces_other_text_is_reported_and_counters_elsewhere_are_not() -> None:
    held = MinorChanges()
    for page in range(3):
        held.add(build_replacement(page, f"Welcome to part {page}", "Autumn sale!"))
    for page in range(3, 20):
        held.add(build_replacement(page, f"{page} visitors", f"{page + 100} visitors"))
    assert sorted(one.url_id for one in held.take_shared(1000.0)) == [0, 1, 2]


def test_notice_is_reported_when_it_comes_and_when_it_goes() -> None:
    held = MinorChanges()
    for page in range(3):
        held.add(build_change(page, "+Autumn sale!"))
    assert len(take_links(held)) == 3
    for page in range(3):
        held.add(build_change(page, "-Autumn sale!"))
    assert len(take_links(held)) == 3


def build_replacement(page: int, old: str, new: str) -> MinorChange:
    pieces = (DiffPiece(DiffOperation.REMOVED, old), DiffPiece(DiffOperation.ADDED, new))
    event = ReportedChange(f"http://a.test/{page}", 1000.0, 0.0, LINKS, "", 200, (ChangedText("changed", pieces),))
    return MinorChange(1, page, 100 + page, event)


def test_page_that_shares_a_change_a_little_later_is_reported_too() -> None:
    held = MinorChanges()
    for page in range(6):
        held.add(build_change(page, "+/contact"))
    assert len(take_links(held)) == 6
    held.add(build_change(7, "+/contact"))
    assert take_links(held, 1300.0) == {7: ["/contact"]}
    held.add(build_change(8, "+/contact"))
    assert take_links(held, 2000.0) == {}
