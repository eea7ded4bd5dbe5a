from sanderling.changes.change_groups import group_changes
from sanderling.changes.changed_text import ChangedText, build_changed_text
from sanderling.changes.classify import ChangeKind, PageChange
from sanderling.changes.feed import ReportedChange

CHANGE = PageChange(kinds=(ChangeKind.CONTENT,), significance=0.5)
BANNER = build_changed_text("", "Autumn sale!")


def build_item(number: int, *texts: ChangedText, host: str = "shop.example") -> ReportedChange:
    return ReportedChange(f"https://{host}/p{number}", 1000.0 + number, 0.0, CHANGE, texts=texts)


def test_text_on_three_pages_is_one_event() -> None:
    (event,) = group_changes([build_item(number, BANNER) for number in range(17)])
    assert event.shared_urls == tuple(sorted(f"https://shop.example/p{number}" for number in range(17)))
    assert (event.name, event.words) == ("on 17 pages of shop.example", ["+ Autumn sale!"])


def test_text_on_two_pages_remains_two_changes() -> None:
    items = [build_item(number, BANNER) for number in range(2)]
    assert group_changes(items) == items


def test_own_text_of_a_page_is_reported_apart_from_the_shared_text() -> None:
    price = build_changed_text("Price 129 EUR", "Price 119 EUR")
    found = group_changes([build_item(1, BANNER, price), *(build_item(number, BANNER) for number in (2, 3, 4))])
    assert [(item.url, item.texts) for item in found if not item.shared_urls] == [("https://shop.example/p1", (price,))]
    assert [len(item.shared_urls) for item in found if item.shared_urls] == [4]


def test_pages_of_other_sites_do_not_count() -> None:
    items = [build_item(number, BANNER, host=f"{name}.example") for number, name in enumerate("abc")]
    assert group_changes(items) == items


def test_same_text_on_one_page_at_several_times_is_not_shared() -> None:
    items = [ReportedChange("https://shop.example/", float(at), 0.0, CHANGE, texts=(BANNER,)) for at in range(5)]
    assert group_changes(items) == items
