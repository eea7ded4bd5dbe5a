from hypothesis import given
from hypothesis import strategies as st

from sanderling.changes.changed_text import format_plain_text
from sanderling.monitor.json_diff import diff_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def show(old: object, new: object) -> list[str]:
    return [format_plain_text(text) for text in diff_json(old, new)]


def test_paths_of_added_removed_and_changed_values() -> None:
    old = {"price": 129, "stock": True, "note": "x"}
    new = {"price": 119, "stock": True, "color": "red"}
    assert show(old, new) == ["~ $.price [-129-]{+119+}", "- $.note x", "+ $.color red"]


def test_objects_of_a_list_are_matched_by_id() -> None:
    old = {"items": [{"id": 1, "n": 5}, {"id": 2, "n": 6}]}
    new = {"items": [{"id": 2, "n": 7}, {"id": 1, "n": 5}]}
    assert show(old, new) == ["~ $.items[id=2].n [-6-]{+7+}"]


def test_inserted_item_does_not_change_its_followers() -> None:
    assert show(["a", "b"], ["new", "a", "b"]) == ["+ $[0] new"]


def test_deep_values_do_not_overflow_the_stack() -> None:
    old: object = 1
    new: object = 2
    for _ in range(400):
        old, new = [old], [new]
    assert len(diff_json(old, new)) == 1


@given(VALUES, VALUES)
def test_equal_values_have_no_difference_and_others_have_one(old: object, new: object) -> None:
    assert diff_json(old, old) == []
    if old != new:
        assert diff_json(old, new)
