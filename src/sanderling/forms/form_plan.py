"""Plan the queries of a form: which templates are tried, kept and dropped, and which queries are refined.

A template is a set of fields that are filled in; the others keep their default. A few queries of a template are sent as
a test. It is dropped if the answers do not depend on the values (fewer than a quarter are distinct), or if they contain
no records that are new. A query whose results are as many as the longest list of results seen is probably cut off: only
such queries are refined by a further field, up to three.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import ceil

from msgspec import Struct, field

from sanderling.forms.form_rules import get_default, is_choice, is_search_box, list_values
from sanderling.forms.query_runs import DONE, DROPPED, OPEN, Bindings, QueryRun, QueryTemplate, ResultPage
from sanderling.forms.query_words import WordTable
from sanderling.forms.value_ranges import find_ranges, list_typed_values, split_range
from sanderling.html.form_fields import PageForm

SAMPLE = 3  # queries that test a template
WORD_SAMPLE = 8  # the first words may be of the navigation
MIN_DISTINCT = 0.25  # share of distinct answers (Madhavan et al. 2008, 4.2)
RECENT = 8  # requests after which a template without new records is dropped
WORD_RECENT = 16  # words of several bands are tried in turn
MIN_RECENT = 2  # of those with new records
MAX_MISSES = 2  # pages in a row without new records, after which a list of results is left
CUT_OFF_SHARE = 0.85  # of the longest list: a list at least so long is probably cut off
TOLERANCE = 1.1  # of numbers of records: pages also have other links
PART_RESERVE = 1.15  # parts of a range are not equally full
MAX_PARTS = 16  # of a range whose results are cut off
MAX_DIMENSIONS = 3  # fields of a template (Madhavan et al. 2008, 4.3)
MAX_QUERIES = 5_000  # of a template
MAX_RUNS = 20_000
MAX_PAGES = 2_000  # of a list of results
WINDOW = 3  # queries of a form at once


class FormPlan(Struct, array_like=True):
    """A form with its templates and queries."""

    id: int
    page_id: int
    depth: int
    form: PageForm
    state: str = OPEN
    reason: str = ""
    is_recipe: bool = False
    requests: int = 0
    useful: int = 0
    found: int = 0
    errors: int = 0  # in a row
    has_links: bool = False  # records are links
    list_limit: int = 0  # records of the longest list that ended before its total; 0: none did
    templates: list[QueryTemplate] = field(default_factory=list)
    runs: list[QueryRun] = field(default_factory=list)

    @property
    def active_runs(self) -> int:
        return sum(1 for run in self.runs if not run.is_finished)

    def start(self, mode: str, label_values: dict[str, list[str]]) -> None:
        """Create the templates with a single field, those with most values first."""
        fields = self.form.fields
        if self.is_recipe:
            self._start_recipe()
            return
        self.templates = [QueryTemplate("default", [], [{}])]
        choices = [number for number, found in enumerate(fields) if is_choice(found)]
        for number in sorted(choices, key=lambda place: -len(list_values(fields[place]))):
            self._add_choices([number], [{number: value} for value in list_values(fields[number])])
        if mode == "search":
            for low, high, bounds in find_ranges(fields):
                self.templates.append(QueryTemplate("range", [low, high], [{low: bounds[0], high: bounds[1]}]))
            for number, found in enumerate(fields):
                values = list_typed_values(found) or label_values.get(found.label.lower() or found.name.lower(), [])
                if values and found.kind not in ("choice", "flag", "hidden", "submit"):
                    self._add_choices([number], [{number: value} for value in values])
                elif is_search_box(found, self.form):
                    self.templates.append(QueryTemplate("words", [number]))

    def _start_recipe(self) -> None:
        """Combine all values that the user listed, and try words in the fields named for them."""
        lists = [(n, found.values) for n, found in enumerate(self.form.fields) if found.kind == "choice"]
        words = [n for n, found in enumerate(self.form.fields) if found.kind == "text"]
        combined = product(*(values for _, values in lists))
        queue = [dict(zip((n for n, _ in lists), values, strict=True)) for values in islice(combined, MAX_QUERIES)]
        self.templates = [QueryTemplate("listed", [n for n, _ in lists], queue)] if lists or not words else []
        self.templates += [QueryTemplate("words", [n]) for n in words]

    def _add_choices(self, inputs: list[int], queries: Sequence[Bindings]) -> None:
        """Add a template; its first queries are spread over all values."""
        spread = len(queries) // SAMPLE
        first = [queries[number * spread] for number in range(SAMPLE)] if spread > 1 else []
        rest = [query for query in queries if query not in first]
        self.templates.append(QueryTemplate("choices", inputs, [*first, *rest][:MAX_QUERIES]))

    def take_query(self, words: WordTable) -> QueryRun | None:
        """Return the next query to send; None: wait for answers, or the form is done."""
        while self.state == OPEN:
            number = self._choose_template()
            if number is None:
                self.state = OPEN if self.active_runs else DONE
                return None
            template = self.templates[number]
            active = sum(1 for run in self.runs if run.template == number and not run.is_finished)
            if active >= WINDOW:
                return None
            bindings = self._take_bindings(template, words)
            if bindings is not None and len(self.runs) < MAX_RUNS:
                template.sent += 1
                self.runs.append(QueryRun(number, bindings))
                return self.runs[-1]
            if active:
                return None
            template.state = DONE
            self._refine(number)
        return None

    def _choose_template(self) -> int | None:
        """Return the open template with the most fields: where results are cut off, the rest comes before all else."""
        numbered = [n for n, found in enumerate(self.templates) if found.state == OPEN]
        return min(numbered, key=self._order_template, default=None)

    def _order_template(self, number: int) -> tuple[bool, int, int]:
        template = self.templates[number]
        dimensions = len(template.inputs) if template.kind == "choices" else 1
        return template.kind != "default", -dimensions, number

    def _take_bindings(self, template: QueryTemplate, words: WordTable) -> Bindings | None:
        if template.kind == "words":
            word = words.choose_word()
            return {template.inputs[0]: word} if word else None
        return template.queue.pop(0) if template.queue else None

    def record_page(self, run: QueryRun, page: ResultPage, words: WordTable) -> bool:
        """Record a page of results. Returns whether the next page is wanted."""
        template = self.templates[run.template]
        run.pages += 1
        run.size += page.records
        run.found += page.found
        run.misses = 0 if page.is_useful else run.misses + 1
        self.requests += 1
        self.useful += page.is_useful
        self.found += page.found
        self.errors = 0
        template.answered += 1
        template.useful += page.is_useful
        if run.pages == 1 and page.signature not in template.signatures:
            template.signatures.append(page.signature)
        if template.kind == "words":
            words.record_result(run.bindings[template.inputs[0]], page.found)
        run.total = max(run.total, page.total)
        if not page.has_next and run.total > TOLERANCE * run.size:
            self.list_limit = max(self.list_limit, run.size)
        is_refined = self._is_cut_off(run) and run.total > 0 and self._can_refine(run.template)
        if not is_refined:
            template.recent = [*template.recent, page.is_useful][-self._get_window(template) :]
        if page.has_next and run.misses < MAX_MISSES and run.pages < MAX_PAGES and not is_refined:
            return True
        self.finish_run(run)
        return False

    def _get_window(self, template: QueryTemplate) -> int:
        return WORD_RECENT if template.kind == "words" else RECENT

    def _can_refine(self, number: int) -> bool:
        """Return whether the results of a template can be divided: their first records come again then."""
        template = self.templates[number]
        choices = sum(1 for found in self.templates if found.kind == "choices" and len(found.inputs) == 1)
        return template.kind == "range" or (
            template.kind == "choices" and len(template.inputs) < min(MAX_DIMENSIONS, choices)
        )

    def record_error(self, run: QueryRun) -> None:
        """Record a request without an answer."""
        template = self.templates[run.template]
        self.requests += 1
        self.errors += 1
        template.answered += 1
        template.recent = [*template.recent, False][-self._get_window(template) :]
        self.finish_run(run)

    def finish_run(self, run: QueryRun) -> None:
        """End a query: drop its template if it is not informative, and split a range that is cut off."""
        run.is_finished = True
        template = self.templates[run.template]
        is_left = run.misses >= MAX_MISSES  # the rest of the list is not known
        is_whole = not any(found.template == run.template and found is not run for found in self.runs)
        is_known = run.total > 0 and self.list_limit > 0  # else only lists with new records are divided
        if template.kind == "range" and (
            self._is_cut_off(run) if is_known else (run.found or is_whole) and (is_left or self._is_cut_off(run))
        ):
            low, high = template.inputs
            parts = min(MAX_PARTS, max(2, ceil(PART_RESERVE * run.total / self.list_limit))) if is_known else 2
            field_low = self.form.fields[low]
            is_open = is_whole and field_low.kind not in ("date", "month") and not self.form.fields[high].maximum
            divided = split_range(
                field_low.kind, run.bindings[low], run.bindings[high], MAX_PARTS if is_open else parts, is_open
            )
            template.queue[:0] = [{low: first, high: last} for first, last in divided]
        if (
            template.state == OPEN
            and template.kind not in ("default", "listed")
            and (reason := self._find_drop_reason(template))
        ):
            template.state, template.reason, template.queue = DROPPED, reason, []

    def _find_drop_reason(self, template: QueryTemplate) -> str:
        number = self.templates.index(template)
        finished = sum(1 for run in self.runs if run.template == number and run.is_finished)
        sample = WORD_SAMPLE if template.kind == "words" else SAMPLE
        if finished > sample and len(template.signatures) < MIN_DISTINCT * finished:
            return "the answers do not depend on it"
        if template.kind != "range" and finished >= sample and not template.useful:
            return "no new records"
        if len(template.recent) == self._get_window(template) and sum(template.recent) < MIN_RECENT:
            return "few new records"
        return ""

    def _is_cut_off(self, run: QueryRun) -> bool:
        if run.total:
            return self.list_limit > 0 and run.total > TOLERANCE * self.list_limit
        longest = max((found.size for found in self.runs), default=0)
        return run.size > 0 and run.size >= CUT_OFF_SHARE * longest

    def _refine(self, number: int) -> None:
        """Add a template with a further field, for the queries of a template that are cut off.

        The field with the fewest values comes first: results that are just short enough cost the fewest requests.
        """
        template = self.templates[number]
        if template.kind != "choices" or len(template.inputs) >= MAX_DIMENSIONS:
            return
        known = {frozenset(found.inputs) for found in self.templates}
        single = {t.inputs[0]: n for n, t in enumerate(self.templates) if t.kind == "choices" and len(t.inputs) == 1}
        cut_off = [run for run in self.runs if self._is_cut_off(run)]
        parents = [run.bindings for run in cut_off if run.template == number]
        for extra in sorted(single, key=lambda field_number: len(list_values(self.form.fields[field_number]))):
            if parents and extra not in template.inputs and frozenset((*template.inputs, extra)) not in known:
                queries = list(self._combine(parents, extra, single[extra], cut_off))
                self._add_choices([*template.inputs, extra], queries)
                return

    def _combine(
        self, parents: Sequence[Bindings], extra: int, template: int, cut_off: Sequence[QueryRun]
    ) -> Iterator[Bindings]:
        """Yield the parents with each value of a field, except values whose own results are complete."""
        complete = {run.bindings[extra] for run in self.runs if run.template == template and run.pages and
                    run not in cut_off and run.misses < MAX_MISSES}  # fmt: skip
        values = [value for value in list_values(self.form.fields[extra]) if value not in complete]
        for value, parent in product(values, parents[: MAX_QUERIES // max(1, len(values))]):
            yield {**parent, extra: value}

    def describe_run(self, run: QueryRun) -> str:
        pairs = [f"{self.form.fields[n].name}={value}" for n, value in sorted(run.bindings.items())]
        return ", ".join(pairs)[:200] or "nothing chosen"

    def list_pairs(self, run: QueryRun) -> list[tuple[str, str]]:
        """Return the names and values that are sent."""
        values = [run.bindings.get(n, get_default(found)) for n, found in enumerate(self.form.fields)]
        named = zip(self.form.fields, values, strict=True)
        return [(found.name, value) for found, value in named if found.name and value is not None]
