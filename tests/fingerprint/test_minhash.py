import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.fingerprint.minhash import (
    SKETCH_SIZE,
    compute_hamming_distance,
    estimate_similarity,
    hash_shingles,
    sketch_text,
    split_words,
)
from sanderling.html.native_tables import BINS

FREQUENT = ["the", "of", "to", "in", "that", "it", "is", "was", "for", "on", "with", "as", "at", "by", "this"]


def draw_words(seed: int, count: int, vocabulary: int = 3000) -> list[str]:
    """Draw words with a Zipf distribution, as in natural language."""
    dice = random.Random(seed)
    names = FREQUENT + ["".join(dice.choices("abcdefghijklmnoprstuw", k=7)) for _ in range(vocabulary)]
    return dice.choices(names, [1 / (rank + 1) for rank in range(len(names))], k=count)


def jaccard(old_text: str, new_text: str) -> float:
    first, second = (set(hash_shingles(split_words(text))) for text in (old_text, new_text))
    return len(first & second) / len(first | second)


@given(st.text())
def test_a_sketch_has_32_bytes_and_is_zero_only_without_words(text: str) -> None:
    assert len(sketch_text(text)) == SKETCH_SIZE
    assert (sketch_text(text) == bytes(SKETCH_SIZE)) == (not split_words(text))


def test_white_space_punctuation_and_case_are_ignored() -> None:
    assert sketch_text("The tide,  at 10:45.\n\nLow") == sketch_text("the tide: at 10 45\nlow")
    assert sketch_text("out\u00adgoing\u200b tide") == sketch_text("outgoing tide")


@pytest.mark.parametrize("count", [6, 20, 100, 400, 3000])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.3])
def test_estimate_is_near_the_jaccard_similarity(count: int, share: float) -> None:
    errors = []
    for seed in range(12):
        old = draw_words(seed, count)
        new, kept_count = draw_words(seed + 100, max(1, int(share * count))), count - max(1, int(share * count))
        old_text, new_text = " ".join(old), " ".join(old[:kept_count] + new)
        errors.append(estimate_similarity(sketch_text(old_text), sketch_text(new_text)) - jaccard(old_text, new_text))
    assert max(map(abs, errors)) < 0.25  # four standard errors
    assert abs(sum(errors) / len(errors)) < 0.06


def test_frequent_words_do_not_make_long_texts_similar() -> None:
    texts = [sketch_text(" ".join(draw_words(1, 5000)[start : start + 2500])) for start in (0, 2500)]
    assert estimate_similarity(*texts) < 0.3, "the same vocabulary in another order is another text"


def test_bits_are_fair() -> None:
    sketches = [int.from_bytes(sketch_text(" ".join(draw_words(seed, 60))), "little") for seed in range(200)]
    ones = [sum(value >> place & 1 for value in sketches) for place in range(BINS)]
    assert 60 < min(ones) <= max(ones) < 140
    assert 96 < sum(compute_hamming_distance(sketches[0], new_text) for new_text in sketches[1:]) / 199 < 160


@pytest.mark.parametrize("text", ["潮が引くと砂浜に鳥が走る。", "น้ำลงแล้วนกวิ่งบนหาดทราย", "ថ្ងៃនេះទឹកសមុទ្រស្រក"])
def test_scripts_without_spaces_are_split_into_characters(text: str) -> None:
    assert len(split_words(text)) > 10
    assert estimate_similarity(sketch_text(text * 3 + "x"), sketch_text(text * 3 + "y")) > 0.5


def test_sketches_of_different_length_or_none_are_not_similar() -> None:
    assert estimate_similarity(b"", b"") == estimate_similarity(bytes(8), bytes(SKETCH_SIZE)) == 0
    assert estimate_similarity(bytes(8), bytes(8)) == 1, "simhashes of an earlier version can be compared"
