"""What two fetches at the same time disagree about is not a change; what they share and the last version lacks is."""

from collections.abc import Sequence

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.changes.volatile_places import VolatilePlaces
from sanderling.changes.word_report import ComparableVersion, parse_version
from sanderling.monitor.controlled_diff import ControlledDiff

STORY = "".join(
    f"<p>The harbor of town {name} was rebuilt by {name} engineers.</p>" for name in ("Aa", "Bb", "Cc", "Dd")
)


def page(*paragraphs: str, before: str = "") -> ComparableVersion:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return parse_version(f"<title>T</title>{before}<main><h1>Town</h1>{STORY}{text}</main>".encode())


def compare(
    old: ComparableVersion, fetches: Sequence[ComparableVersion], known: VolatilePlaces | None = None
) -> FingerprintDiff:
    controlled = ControlledDiff(old, fetches[0], fetches[1:], known if known is not None else VolatilePlaces())
    found = controlled.filter(diff_fingerprints(old.fingerprint, fetches[0].fingerprint))
    controlled.learn()
    return found


def test_difference_is_a_change_if_the_control_fetch_has_it() -> None:
    new = page("Sales end on Friday.")
    assert compare(page("Sales start on Monday."), [new, new]).blocks


def test_difference_is_noise_if_the_control_fetch_differs_there() -> None:
    old, new, control = (page(f"Our guests like {word} best.") for word in ("tea", "coffee", "juice"))
    assert compare(old, [new]).blocks
    assert not compare(old, [new, control]).blocks


def test_known_noise_needs_no_control_fetch() -> None:
    known = VolatilePlaces()
    old, new, control = (page(f"Our guests like {word} best.") for word in ("tea", "coffee", "juice"))
    compare(old, [new, control], known)
    assert not compare(control, [old], known).blocks
    assert compare(control, [page("Our guests like milk best.")], known).blocks  # a new value


def test_numbers_that_never_repeat_need_no_control_fetch() -> None:
    known = VolatilePlaces()
    for number in range(10, 60, 10):
        known.learn(page(f"Seen by {number} sailors."), page(f"Seen by {number + 3} sailors."))
    assert not compare(page("Seen by 13 sailors."), [page("Seen by 77 sailors.")], known).blocks
    assert compare(page("Seen by 13 sailors."), [page("Closed for sailors.")], known).blocks


def test_noise_is_shared_by_the_pages_of_a_site() -> None:
    known = VolatilePlaces()
    known.learn(page("One", "Our guests like tea best."), page("One", "Our guests like juice best."))
    old, new = (page("Two", "Three", f"Our guests like {word} best.") for word in ("tea", "juice"))
    assert not compare(old, [new], known).blocks


def test_change_next_to_noise_is_found() -> None:
    old, new, control = (
        page(f"Deck {deck}, price 4{n} shells, {n} viewers.") for deck, n in (("A", 1), ("B", 2), ("B", 3))
    )
    assert compare(old, [new, control]).blocks


def test_change_of_a_variant_is_found_though_the_variants_differ() -> None:
    known = VolatilePlaces()
    first, second = "Order before noon for delivery.", "Orders of the morning arrive today."
    for _ in range(6):
        known.learn(page(first), page(second))
    assert not compare(page(first), [page(second)], known).blocks
    changed = page("Order before nine for delivery.")
    assert compare(page(first), [changed, page(second), changed], known).blocks


def test_removed_line_next_to_noise_is_found() -> None:
    known = VolatilePlaces()
    known.learn(page("Kept.", "Try soap."), page("Kept.", "Try rope."))
    old, new = page("Kept.", "The lantern was painted.", "Try soap."), page("Kept.", "Try rope.")
    assert compare(old, [new, new], known).blocks
    assert not compare(page("Kept.", "Try soap."), [page("Kept.", "Try rope.")], known).blocks


def test_words_replaced_by_a_number_that_differs_are_a_change() -> None:
    old, new, control = page("Left: none"), page("Left: 34"), page("Left: 31")
    assert compare(old, [new, control]).blocks


def test_varying_links_are_noise_and_a_lasting_link_is_not() -> None:
    def links(*names: str) -> ComparableVersion:
        return page(before="".join(f"<a href=/{name}>see</a> " for name in names))

    known = VolatilePlaces()
    assert not compare(links("a", "b"), [links("c", "d"), links("a", "e")], known).assets
    found = compare(links("a", "b"), [links("c", "new"), links("a", "new")], known).assets
    assert len(found["links"].added) == 1


def test_place_that_changes_at_each_check_is_no_longer_reported() -> None:
    known, reported = VolatilePlaces(), list[bool]()
    moving: tuple[int, ...] = ()
    for day in range(30, 20, -1):
        old, new = page(f"Only {day} days until the fair."), page(f"Only {day - 1} days until the fair.")
        controlled = ControlledDiff(old, new, [new], known, moving)
        reported.append(bool(controlled.filter(diff_fingerprints(old.fingerprint, new.fingerprint)).blocks))
        moving = controlled.list_moving()
        controlled.learn()
    assert reported[0]
    assert not any(reported[-5:])


def test_price_that_changes_at_each_check_is_reported_each_time() -> None:
    known = VolatilePlaces()
    moving: tuple[int, ...] = ()
    for price in range(30, 20, -1):
        old, new = page(f"{price}.00 EUR"), page(f"{price - 1}.00 EUR")
        controlled = ControlledDiff(old, new, [new], known, moving)
        assert controlled.filter(diff_fingerprints(old.fingerprint, new.fingerprint)).blocks
        moving = controlled.list_moving()
        controlled.learn()


def test_model_is_stored_and_bounded() -> None:
    known = VolatilePlaces()
    known.learn(page("Try soap."), page("Try rope."))
    loaded = VolatilePlaces.from_bytes(known.to_bytes())
    assert loaded == known
    assert VolatilePlaces.from_bytes(b"").is_empty
