"""Templates are tested, kept while they find new records, and refined where results are cut off."""

from collections.abc import Callable, Sequence

from sanderling.forms.form_plan import FormPlan
from sanderling.forms.query_runs import ResultPage
from sanderling.forms.query_words import WordTable
from sanderling.html.form_fields import FormField, PageForm

Answer = Callable[[dict[str, str]], Sequence[int]]
COLORS, SIZES = [f"c{n}" for n in range(12)], [f"s{n}" for n in range(6)]


def run_plan(fields: list[FormField], answer: Answer, limit: int = 10_000) -> tuple[FormPlan, set[int], int]:
    """Answer all queries of a plan. Returns the plan, the records reached, and the number of requests."""
    plan, words, reached, requests = (
        FormPlan(1, 0, 0, PageForm("https://a.test/s", "get", fields)),
        WordTable(),
        set[int](),
        0,
    )
    plan.start("search", {})
    while plan.state == "open":
        run = plan.take_query(words)
        if run is None:
            break
        found = answer(dict(plan.list_pairs(run)))
        shown, wants_next, start = found[:limit], True, 0
        while wants_next:
            part = shown[start : start + 10]
            new = len(set(part) - reached)
            reached |= set(part)
            start += 10
            requests += 1
            result = ResultPage(len(part), new, hash(tuple(part)), start < len(shown), len(found))
            wants_next = plan.record_page(run, result, words)
    return plan, reached, requests


def choose(pairs: dict[str, str]) -> list[int]:
    """Return the records of a color and a size, of 1,440."""
    color, size = pairs.get("color", ""), pairs.get("size", "")
    return [
        n for n in range(1_440) if color in ("", COLORS[n % 12]) and size in ("", SIZES[n // 12 % 6])
    ]  # fmt: skip


FIELDS = [FormField("color", "choice", ["", *COLORS], ""), FormField("size", "choice", ["", *SIZES], "")]


def test_form_that_lists_everything_needs_few_further_queries() -> None:
    plan, reached, requests = run_plan(FIELDS, choose)
    assert (len(reached), plan.state) == (1_440, "done")
    assert requests < 144 + 20
    assert {template.reason for template in plan.templates[1:]} == {"no new records"}


def test_fields_are_combined_where_results_are_cut_off() -> None:
    plan, reached, requests = run_plan(FIELDS, choose, limit=30)
    assert len(reached) == 1_440
    assert requests < 144 * 2
    assert max(len(template.inputs) for template in plan.templates) == 2


def test_field_without_influence_is_dropped() -> None:
    plan, _, requests = run_plan([FormField("color", "choice", ["", *COLORS], "")], lambda _: [1, 2, 3])
    assert plan.templates[1].state == "dropped"
    assert requests <= 5


def test_ranges_are_divided() -> None:
    fields = [FormField("price_min", "number", [], ""), FormField("price_max", "number", [], "", maximum="4000")]

    def answer(pairs: dict[str, str]) -> list[int]:
        return [n for n in range(1_000) if int(pairs["price_min"] or 0) <= n * 3 <= int(pairs["price_max"] or 9_999)]

    _, reached, requests = run_plan(fields, answer, limit=20)
    assert len(reached) == 1_000
    assert requests < 250
