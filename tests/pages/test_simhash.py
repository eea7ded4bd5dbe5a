"""The 64-bit mark of a text."""

import random

from hypothesis import given
from hypothesis import strategies as st

from sanderling.pages.simhash import distance, majority, simhash

WORDS = ["tide", "sand", "crab", "worm", "wave", "shell", "gull", "pier", "rope", "boat"]


def sentences(seed: int, count: int) -> list[str]:
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=7)) + "." for _ in range(count)]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=70))
def test_majority_counts_every_bit(words: list[int]) -> None:
    mark = majority(b"".join(word.to_bytes(8, "little") for word in words), len(words))
    for place in range(64):
        votes = sum(word >> place & 1 for word in words)
        assert (mark >> place & 1) == (votes > len(words) // 2)


def test_an_empty_text_is_zero() -> None:
    assert simhash("") == simhash(" \n.") == 0


def test_blanks_digits_and_case_do_not_matter() -> None:
    assert simhash("The tide,  at 10:45.\n\nLow") == simhash("the tide, at 11:07.\nlow")


def test_one_changed_sentence_in_fifty_moves_few_bits_and_another_text_many() -> None:
    old = sentences(1, 50)
    new = [*old[:20], "A stranger came by.", *old[21:]]
    assert distance(simhash(" ".join(old)), simhash(" ".join(new))) <= 8
    assert distance(simhash(" ".join(old)), simhash(" ".join(sentences(2, 50)))) > 16
