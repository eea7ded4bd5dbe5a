"""Blocks of two versions, paired."""

from sanderling.changes.diff import Action, difference
from sanderling.fingerprint.build import sign
from sanderling.html.parser import parse


def blocks(old: str, new: str) -> list[tuple[Action, int, int]]:
    found = difference(sign(parse(old.encode())), sign(parse(new.encode()))).blocks
    return sorted((block.action, block.old, block.new) for block in found)


def test_a_paragraph_put_in_between_two_that_changed_is_the_one_added() -> None:
    old = "<p>The second paragraph tells of prices: tea costs 12 crowns.</p><p>Price 12</p>"
    new = "<p>The second paragraph tells of prices: tea costs 14 crowns.</p><p>A new one of cups.</p><p>Price 14</p>"
    assert blocks(old, new) == [(Action.ADDED, -1, 1), (Action.CHANGED, 0, 0), (Action.CHANGED, 1, 2)]
    assert blocks(new, old) == [(Action.CHANGED, 0, 0), (Action.CHANGED, 2, 1), (Action.REMOVED, 1, -1)]
