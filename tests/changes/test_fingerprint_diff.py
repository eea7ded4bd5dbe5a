from sanderling.changes.fingerprint_diff import BlockAction, diff_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.html.parser import parse_html


def diff_blocks(old: str, new: str) -> list[tuple[BlockAction, int, int]]:
    found = diff_fingerprints(
        fingerprint_page(parse_html(old.encode())), fingerprint_page(parse_html(new.encode()))
    ).blocks
    return sorted((block.action, block.old, block.new) for block in found)


def test_paragraph_inserted_between_changed_ones_is_added() -> None:
    old = "<p>The second paragraph tells of prices: tea costs 12 crowns.</p><p>Price 12</p>"
    new = "<p>The second paragraph tells of prices: tea costs 14 crowns.</p><p>A new one of cups.</p><p>Price 14</p>"
    assert diff_blocks(old, new) == [
        (BlockAction.ADDED, -1, 1),
        (BlockAction.CHANGED, 0, 0),
        (BlockAction.CHANGED, 1, 2),
    ]
    assert diff_blocks(new, old) == [
        (BlockAction.CHANGED, 0, 0),
        (BlockAction.CHANGED, 2, 1),
        (BlockAction.REMOVED, 1, -1),
    ]
