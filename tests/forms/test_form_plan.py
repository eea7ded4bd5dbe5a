"""Templates are tested, kept while they find new records, and refined where results are cut off."""

from collections.abc import Callable, Sequence

from sanderling.forms.form_plan import FormPlan
from sanderling.forms.query_refinement import add_dependent_values
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
    while (number := plan.take_query(words)) is not None:
        run = plan.runs[number]
        found = answer(dict(plan.list_pairs(run)))
        start = int(run.next_url or 0)
        part = found[:limit][start : start + 10]
        new = len(set(part) - reached)
        reached |= set(part)
        requests += 1
        following = str(start + 10) if start + 10 < len(found[:limit]) else ""
        plan.record_page(run, ResultPage(len(part), new, hash(tuple(part)), len(found), following))
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


def test_values_that_depend_on_another_field_are_learned() -> None:
    towns = {f"r{n}": [f"r{n}t{k}" for k in range(5)] for n in range(6)}
    fields = [FormField("region", "choice", ["", *towns], ""), FormField("town", "choice", [""], "")]
    plan, words, reached = FormPlan(1, 0, 0, PageForm("https://a.test/s", "get", fields)), WordTable(), set[str]()
    plan.start("select", {})
    while (number := plan.take_query(words)) is not None:
        run = plan.runs[number]
        pairs = dict(plan.list_pairs(run))
        offered = [fields[0], FormField("town", "choice", ["", *towns.get(pairs["region"], [])], "")]
        values = add_dependent_values(plan.templates, run, plan.form, PageForm("https://a.test/s", "get", offered))
        found = {pairs["town"]} - {""} - reached
        reached |= found
        signature = hash((tuple(found), pairs["region"] if values else ""))
        plan.record_page(run, ResultPage(len(found), len(found), signature, values=values))
    assert len(reached) == 30
    assert plan.requests == 1 + 6 + 30


def test_dates_are_sent_as_the_field_shows() -> None:
    fields = [FormField("von", "text", label="von TT.MM.JJJJ"), FormField("bis", "text", label="bis TT.MM.JJJJ")]
    plan = FormPlan(1, 0, 0, PageForm("https://a.test/s", "get", fields))
    plan.start("search", {})
    first = plan.take_query(WordTable())
    assert first is not None
    plan.record_page(plan.runs[first], ResultPage(0, 0, 1))
    number = plan.take_query(WordTable())
    assert number is not None
    assert dict(plan.list_pairs(plan.runs[number]))["von"] == "01.01.1990"
