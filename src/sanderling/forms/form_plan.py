"""Plan the queries of a form: which templates are tried, kept and dropped, and which queries are refined.

A template is a set of fields that are filled in; the others keep their default. Each request is the one that is
expected to find most new records (adaptive, as Ntoulas et al. 2005): the first page of a further query of a template,
or the next page of a list of results. A template is dropped if its answers do not depend on the values (fewer than a
quarter are distinct; Madhavan et al. 2008), or if they contain few records that are new. A query whose results are as
many as the longest list of results seen is probably cut off: only such queries are refined by a further field.
"""

from collections.abc import Sequence
from itertools import islice, product
from math import ceil

from msgspec import Struct, field

from sanderling.forms.form_rules import get_default, is_choice, is_search_box, list_values
from sanderling.forms.query_refinement import (
    MAX_DIMENSIONS,
    MAX_MISSES,
    MAX_QUERIES,
    find_refinement,
)
from sanderling.forms.query_runs import (
    DONE,
    DROPPED,
    LATER_PAGES,
    NEW_SHARE,
    OPEN,
    Bindings,
    QueryRun,
    QueryTemplate,
    ResultPage,
)
from sanderling.forms.query_words import WordTable
from sanderling.forms.value_ranges import (
    find_ranges,
    format_field_value,
    get_value_kind,
    list_typed_values,
    split_range,
)
from sanderling.html.form_fields import PageForm

SAMPLE = 3  # queries that test a template
WORD_SAMPLE = 8  # the first words may be of the navigation
MIN_DISTINCT = 0.25  # share of distinct answers (Madhavan et al. 2008, 4.2)
RECENT = 8  # requests after which a template without new records is dropped
WORD_RECENT = 16  # words of several bands are tried in turn
MIN_RECENT = 2  # of those with new records
CUT_OFF_SHARE = 0.85  # of the longest list: a list at least so long is probably cut off
TOLERANCE = 1.1  # of numbers of records: pages also have other links
PART_RESERVE = 1.15  # parts of a range are not equally full
MAX_PARTS = 16  # of a range whose results are cut off
MAX_RUNS = 20_000
MAX_PAGES = 2_000  # of a list of results
FIRST_GAIN = 10.0  # new records expected of a form that was never queried
LEAVE_SHARE = 0.2  # of the yield of another query: later pages of a list are often newer than its first one


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
    open_runs: list[int] = field(default_factory=list)  # numbers of the queries that are not finished
    longest: int = 0  # list of results
    largest_page: int = 0  # records

    @property
    def active_runs(self) -> int:
        return len(self.open_runs)

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
            ranged = set[int]()
            for low, high, bounds in find_ranges(fields):
                ranged |= {low, high}
                self.templates.append(QueryTemplate("range", [low, high], [{low: bounds[0], high: bounds[1]}]))
            for number, found in enumerate(fields):
                values = list_typed_values(found) or label_values.get(found.label.lower() or found.name.lower(), [])
                if values and found.kind not in ("choice", "flag", "hidden", "submit"):
                    self._add_choices([number], [{number: value} for value in values])
                elif number not in ranged and is_search_box(found, self.form):
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

    def take_query(self, words: WordTable) -> int | None:
        """Return the number of the query whose next page is requested now; None: wait, or the form is done."""
        while self.state == OPEN:
            if any(self.runs[number].is_sent for number in self.open_runs):
                return None  # each answer decides about the next request
            resumed = max(self.open_runs, key=lambda number: self.runs[number].gain, default=None)
            gain, template, word = self._choose_template(words)
            if resumed is not None and self.runs[resumed].gain >= LEAVE_SHARE * gain:
                gain, template = self.runs[resumed].gain, None
            elif template is None:
                self._end_templates()
                continue
            number = resumed if template is None else self._start_run(template, word)
            if number is not None:
                self.runs[number].is_sent = True
                return number
        return None

    def _choose_template(self, words: WordTable) -> tuple[float, int | None, tuple[str, int]]:
        """Return the yield expected of the best template with queries left, its number, and a word with its band."""
        best: tuple[float, int | None, tuple[str, int]] = (-1.0, None, ("", 0))
        prior = float(self.largest_page) or FIRST_GAIN
        for number, template in enumerate(self.templates):
            word, band = "", 0
            if template.state != OPEN or len(self.runs) >= MAX_RUNS:
                continue
            if template.kind == "words":
                gain, word, band = words.find_word(template, FIRST_GAIN)
            else:
                gain = template.get_yield().estimate(prior)
            if (template.queue or word) and gain > best[0]:
                best = (gain, number, (word, band))
        return best

    def _start_run(self, number: int, word: tuple[str, int]) -> int:
        template = self.templates[number]
        bindings = {template.inputs[0]: word[0]} if template.kind == "words" else template.queue.pop(0)
        if word[0]:
            template.used_words[word[0]] = word[1]
        template.sent += 1
        self.runs.append(QueryRun(number, bindings))
        self.open_runs.append(len(self.runs) - 1)
        return len(self.runs) - 1

    def _end_templates(self) -> None:
        """End the templates without queries, and add those that refine them; the form is done if there are none."""
        count = len(self.templates)
        for number, template in enumerate(self.templates[:count]):
            if template.state == OPEN:
                template.state = DONE
                cut_off = [run for run in self.runs if self._is_cut_off(run)]
                if found := find_refinement(self.form, self.templates, number, self.runs, cut_off):
                    self._add_choices(*found)
        if len(self.templates) == count:
            self.state = DONE

    def record_page(self, run: QueryRun, page: ResultPage) -> None:
        """Record a page of results. The query is finished unless its next page is wanted."""
        template = self.templates[run.template]
        word = run.bindings[template.inputs[0]] if template.kind == "words" else ""
        band = template.used_words.get(word, 0)
        run.is_sent = False
        run.pages += 1
        run.size += page.records
        run.found += page.found
        run.misses = 0 if page.is_useful else run.misses + 1
        run.total = max(run.total, page.total)
        self.longest, self.largest_page = max(self.longest, run.size), max(self.largest_page, page.records)
        self.requests += 1
        self.useful += page.is_useful
        self.found += page.found
        self.errors = 0
        template.answered += 1
        template.useful += page.is_useful
        template.first_pages += run.pages == 1
        if run.pages == 1 and page.signature not in template.signatures:
            template.signatures.append(page.signature)
        template.get_yield(band).add_request(page.found)
        if run.pages > 1:
            template.get_yield(LATER_PAGES).add_request(page.found)
        average = template.get_yield(band).estimate(self.largest_page)
        run.gain = (page.found + template.get_yield(LATER_PAGES).estimate(average)) / 2
        if not page.next_url and run.total > TOLERANCE * run.size:
            self.list_limit = max(self.list_limit, run.size)
        is_refined = self._is_cut_off(run) and run.total > 0 and self._can_refine(run.template)
        if not is_refined:
            template.recent = [*template.recent, page.is_useful][-self._get_window(template) :]
        run.next_url, run.next_request_url = page.next_url, page.next_request_url
        is_left = run.misses >= MAX_MISSES or run.gain < NEW_SHARE * page.records
        if not page.next_url or is_left or run.pages >= MAX_PAGES or is_refined:
            self.finish_run(run)
        self._drop_template(run.template)

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
        run.is_sent = False
        template.recent = [*template.recent, False][-self._get_window(template) :]
        self.finish_run(run)

    def finish_run(self, run: QueryRun) -> None:
        """End a query: drop its template if it is not informative, and split a range that is cut off."""
        if run.is_finished:
            return
        run.is_finished, run.next_url, run.next_request_url = True, "", ""
        self.open_runs.remove(next(number for number in self.open_runs if self.runs[number] is run))
        template = self.templates[run.template]
        is_left = run.misses >= MAX_MISSES  # the rest of the list is not known
        is_whole = template.sent == 1
        is_known = run.total > 0 and self.list_limit > 0  # else only lists with new records are divided
        if template.kind == "range" and (
            self._is_cut_off(run) if is_known else (run.found or is_whole) and (is_left or self._is_cut_off(run))
        ):
            low, high = template.inputs
            parts = min(MAX_PARTS, max(2, ceil(PART_RESERVE * run.total / self.list_limit))) if is_known else 2
            field_low = self.form.fields[low]
            kind = get_value_kind(field_low)
            is_open = is_whole and kind not in ("date", "month") and not self.form.fields[high].maximum
            divided = split_range(kind, run.bindings[low], run.bindings[high], MAX_PARTS if is_open else parts, is_open)
            run.is_divided = bool(divided)
            template.queue[:0] = [{low: first, high: last} for first, last in divided]
        self._drop_template(run.template)

    def _drop_template(self, number: int) -> None:
        """Drop a template that is not informative, with its lists of results that are not read to the end."""
        template = self.templates[number]
        if template.state != OPEN or template.kind in ("default", "listed"):
            return
        if reason := self._find_drop_reason(template):
            template.state, template.reason, template.queue = DROPPED, reason, []
            runs = [self.runs[n] for n in self.open_runs]
            for run in runs:
                if run.template == number and not run.is_sent:
                    self.finish_run(run)

    def _find_drop_reason(self, template: QueryTemplate) -> str:
        tried = template.first_pages
        sample = WORD_SAMPLE if template.kind == "words" else SAMPLE
        if tried > sample and len(template.signatures) < MIN_DISTINCT * tried:
            return "the answers do not depend on it"
        if template.kind != "range" and tried >= sample and not template.useful:
            return "no new records"
        if len(template.recent) == self._get_window(template) and sum(template.recent) < MIN_RECENT:
            return "few new records"
        return ""

    def _is_cut_off(self, run: QueryRun) -> bool:
        if run.total:
            return self.list_limit > 0 and run.total > TOLERANCE * self.list_limit
        return run.size > 0 and run.size >= CUT_OFF_SHARE * self.longest

    def describe_run(self, run: QueryRun) -> str:
        pairs = [f"{self.form.fields[n].name}={value}" for n, value in sorted(run.bindings.items())]
        return ", ".join(pairs)[:200] or "nothing chosen"

    def list_pairs(self, run: QueryRun) -> list[tuple[str, str]]:
        """Return the names and values that are sent."""
        values = [
            format_field_value(found, run.bindings[n]) if n in run.bindings else get_default(found)
            for n, found in enumerate(self.form.fields)
        ]
        named = zip(self.form.fields, values, strict=True)
        return [(found.name, value) for found, value in named if found.name and value is not None]
