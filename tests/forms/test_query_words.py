"""Words of search boxes."""

from sanderling.forms.query_runs import QueryTemplate
from sanderling.forms.query_words import WordTable


def take_word(table: WordTable, template: QueryTemplate) -> str:
    _, word, band = table.find_word(template, 10.0)
    template.used_words[word] = band
    return word


def test_each_word_is_chosen_once() -> None:
    table, template = WordTable(), QueryTemplate("words", [0])
    table.add_lines(["alpha beta beta gamma", "alpha 12 ab"])
    assert {take_word(table, template) for _ in range(3)} == {"alpha", "beta", "gamma"}
    assert take_word(table, template) == ""


def test_bands_that_found_more_are_preferred() -> None:
    table, template = WordTable(), QueryTemplate("words", [0])
    table.add_lines([f"rare{chr(97 + n)} often{chr(97 + n)}" for n in range(20)])
    table.add_lines([f"often{chr(97 + n)} again" + "x" * k for n in range(20) for k in range(1, 4)])
    for _ in range(12):
        word = take_word(table, template)
        template.get_yield(template.used_words[word]).add_request(20 if word.startswith("often") else 0)
    assert all(take_word(table, template).startswith("often") for _ in range(3))
