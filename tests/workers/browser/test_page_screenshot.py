"""Blocks of screenshots, and which of them differ."""

from sanderling.workers.browser.page_screenshot import (
    MIN_SHARE,
    PictureBlock,
    build_visual_change,
    pair_blocks,
)

BOX, LOWER = (0, 0, 100, 20), (0, 50, 100, 20)


def test_blocks_are_paired_by_content_and_order() -> None:
    old = [PictureBlock(1, BOX), PictureBlock(2, BOX), PictureBlock(2, LOWER)]
    new = [PictureBlock(9, BOX), PictureBlock(2, (0, 5, 9, 9)), PictureBlock(1, LOWER), PictureBlock(2, (0, 9, 9, 9))]
    assert pair_blocks(old, new) == [(BOX, (0, 5, 9, 9)), (BOX, LOWER), (LOWER, (0, 9, 9, 9))]


def test_block_with_the_most_differing_pixels_is_reported() -> None:
    pairs = [(BOX, BOX), (BOX, (0, 0, 400, 20)), (BOX, LOWER)]
    change = build_visual_change(pairs, [1.0, 0.5, MIN_SHARE / 2])
    assert change is not None
    assert (change.share, change.box, change.old_box, change.blocks) == (0.5, (0, 0, 400, 20), BOX, 2)
    assert change.describe() == "50% of the pixels of a block with the same text, 400 x 20, and 1 more"
    assert build_visual_change(pairs, [0.0, 0.01, MIN_SHARE / 2]) is None
