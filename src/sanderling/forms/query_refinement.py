"""Refine queries whose results are cut off by a further field, and learn the values of lists that depend on others."""

from collections.abc import Iterator, Sequence
from itertools import product

from sanderling.forms.form_rules import is_choice, list_values
from sanderling.forms.query_runs import DONE, OPEN, Bindings, QueryRun, QueryTemplate
from sanderling.html.form_fields import PageForm

MAX_MISSES = 2  # pages in a row without new records, after which a list of results is left
MAX_DIMENSIONS = 3  # fields of a template (Madhavan et al. 2008, 4.3)
MAX_QUERIES = 5_000  # of a template


def add_dependent_values(templates: list[QueryTemplate], run: QueryRun, known: PageForm, offered: PageForm) -> int:
    """Queue the values that a page of results offers for this query only. Returns their number."""
    if [field.name for field in offered.fields] != [field.name for field in known.fields]:
        return 0
    template, count = templates[run.template], 0
    for number, (old, new) in enumerate(zip(known.fields, offered.fields, strict=True)):
        values = [value for value in list_values(new) if value not in old.values] if is_choice(new) else []
        if values and number not in run.bindings and len(run.bindings) < MAX_DIMENSIONS:
            inputs = sorted([*template.inputs, number])
            target = next((found for found in templates if found.inputs == inputs), None)
            if target is None:
                target = QueryTemplate("choices", inputs)
                templates.append(target)
            asked = [{**run.bindings, number: value} for value in values]
            target.queue += [query for query in asked if query not in target.queue][: MAX_QUERIES - target.sent]
            target.state = OPEN if target.state == DONE else target.state
            count += len(asked)
    return count


def find_refinement(
    form: PageForm,
    templates: Sequence[QueryTemplate],
    number: int,
    runs: Sequence[QueryRun],
    cut_off: Sequence[QueryRun],
) -> tuple[list[int], list[Bindings]] | None:
    """Return the fields and queries that refine the queries of a template that are cut off. None: there are none.

    The field with the fewest values comes first: results that are just short enough cost the fewest requests.
    """
    template = templates[number]
    if template.kind not in ("choices", "range", "words") or len(template.inputs) >= MAX_DIMENSIONS:
        return None
    known = {frozenset(found.inputs) for found in templates}
    single = {t.inputs[0]: n for n, t in enumerate(templates) if t.kind == "choices" and len(t.inputs) == 1}
    parents = [run.bindings for run in cut_off if run.template == number and not run.is_divided]
    for extra in sorted(single, key=lambda field_number: len(list_values(form.fields[field_number]))):
        if parents and extra not in template.inputs and frozenset((*template.inputs, extra)) not in known:
            own = [run for run in runs if run.template == single[extra] and run.pages]
            complete = {run.bindings[extra] for run in own if run not in cut_off and run.misses < MAX_MISSES}
            values = [value for value in list_values(form.fields[extra]) if value not in complete]
            return [*template.inputs, extra], list(_combine(parents, extra, values))
    return None


def _combine(parents: Sequence[Bindings], extra: int, values: Sequence[str]) -> Iterator[Bindings]:
    """Yield the parents with each value of a field; those whose own results are complete are left out."""
    for value, parent in product(values, parents[: MAX_QUERIES // max(1, len(values))]):
        yield {**parent, extra: value}
