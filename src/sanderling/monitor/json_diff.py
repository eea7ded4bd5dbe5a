"""Structural diff of two JSON values: a changed text for each path."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from sanderling.changes.changed_text import ChangedText, build_changed_text

MAX_DIFFERENCES = 500
MAX_DEPTH = 100
IDENTITY_KEYS = ("id", "_id", "uuid", "guid", "key", "sku", "slug", "url", "name")  # of objects in a list


def diff_json(old: Any, new: Any, path: str = "$") -> list[ChangedText]:
    """Return the values that were added, removed or changed."""
    return [text for text, _ in zip(_diff_values(old, new, path, 0), range(MAX_DIFFERENCES), strict=False)]


def _diff_values(old: Any, new: Any, path: str, depth: int) -> Iterator[ChangedText]:
    if old == new and type(old) is type(new):
        return
    if depth < MAX_DEPTH and isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _diff_entry(old.get(key), new.get(key), key in old, key in new, f"{path}.{key}", depth)
    elif depth < MAX_DEPTH and isinstance(old, list) and isinstance(new, list):
        yield from _diff_lists(old, new, path, depth)
    else:
        yield build_changed_text(_format_value(old), _format_value(new), path)


def _diff_entry(old: Any, new: Any, in_old: bool, in_new: bool, path: str, depth: int) -> Iterator[ChangedText]:
    if in_old and in_new:
        yield from _diff_values(old, new, path, depth + 1)
    else:
        yield build_changed_text(_format_value(old) if in_old else "", _format_value(new) if in_new else "", path)


def _diff_lists(old: list[Any], new: list[Any], path: str, depth: int) -> Iterator[ChangedText]:
    """Match objects by an identifying key, and other items by their order."""
    key = next((name for name in IDENTITY_KEYS if _identifies(name, old) and _identifies(name, new)), None)
    if key is not None:
        before, after = ({str(item[key]): item for item in items} for items in (old, new))
        for name in dict.fromkeys([*before, *after]):
            label = f"{path}[{key}={name}]"
            yield from _diff_entry(before.get(name), after.get(name), name in before, name in after, label, depth)
        return
    before_texts, after_texts = ([json.dumps(item, sort_keys=True) for item in items] for items in (old, new))
    for tag, a, b, c, d in SequenceMatcher(None, before_texts, after_texts, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for offset in range(max(b - a, d - c)):
            in_old, in_new = a + offset < b, c + offset < d
            label = f"{path}[{c + offset if in_new else a + offset}]"
            yield from _diff_entry(
                old[a + offset] if in_old else None, new[c + offset] if in_new else None, in_old, in_new, label, depth
            )


def _identifies(key: str, items: list[Any]) -> bool:
    values = [item.get(key) for item in items if isinstance(item, dict)]
    return len(values) == len(items) == len({str(value) for value in values}) and None not in values


def _format_value(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
