"""Words of search boxes."""

from sanderling.forms.query_words import WordTable


def test_each_word_is_chosen_once() -> None:
    table = WordTable()
    table.add_lines(["alpha beta beta gamma", "alpha 12 ab"])
    chosen = {table.choose_word() for _ in range(3)}
    assert chosen == {"alpha", "beta", "gamma"}
    assert table.choose_word() == ""


def test_bands_that_found_more_are_preferred() -> None:
    table = WordTable()
    table.add_lines([f"rare{chr(97 + n)} often{chr(97 + n)}" for n in range(20)])
    table.add_lines([f"often{chr(97 + n)} again" + "x" * k for n in range(20) for k in range(1, 4)])
    for _ in range(12):
        word = table.choose_word()
        table.record_result(word, 20 if word.startswith("often") else 0)
    assert all(table.choose_word().startswith("often") for _ in range(3))
