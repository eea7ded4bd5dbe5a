"""Query forms: read their results, and queue the next queries of each site.

Queries are URLs like any other: the URL filter, robots.txt, the crawl delay and the limits apply. They wait longer than
other URLs, come after the pages that links lead to, and end at the first 429 or 503 of their site.
"""

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from xxhash import xxh64_intdigest

from sanderling.crawl.stages.visit_batch import VisitBatch
from sanderling.db.connection import Connection
from sanderling.forms.form_plan import FormPlan
from sanderling.forms.form_recipes import FormRecipe
from sanderling.forms.query_refinement import add_dependent_values
from sanderling.forms.query_runs import OPEN, SKIPPED, STOPPED, QueryRun, ResultPage
from sanderling.forms.result_links import ResultLinks, build_query_url, find_total, sort_links
from sanderling.forms.site_forms import RECIPE, FormQuery, FormStore, SiteForms, hash_text_item
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.requeue import dequeue_urls
from sanderling.html.form_fields import FormPage, unpack_form_page
from sanderling.models import CandidateUrl, Outcome, Reason, Url, UrlRole, UrlSource, UrlState, Visit
from sanderling.storage.crawl_log import CrawlLog
from sanderling.urls.normalize import normalize_url, resolve_url
from sanderling.urls.scope import get_site
from sanderling.urls.unsafe_actions import is_action_label

FORM_RANK = 1e8  # after the pages that links lead to
DELAY_FACTOR = 3.0  # times the crawl delay between two queries
MAX_ERRORS = 5  # in a row, after which a form is left
MIN_NEW_LINES = 3  # of a page without links to records: a heading with the query is no record
RETURNED = (Outcome.RETURNED, Outcome.PARKED)


class FormQueries(Struct):
    """Queries the forms of all sites of a crawl."""

    store: FormStore
    frontier: Frontier
    log: CrawlLog
    mode: str  # select, search, or recipes: only those of the user
    limit: int = 0  # requests per site; 0: no limit
    recipes: tuple[FormRecipe, ...] = ()
    is_started: bool = False
    stopped_ids: set[int] = field(default_factory=set)  # queries of the current batch that are not tried again

    @property
    def db(self) -> Connection:
        return self.store.db

    def read_batch(self, batch: VisitBatch, now: float) -> VisitBatch:
        """Read forms and results of a batch, and queue queries. Returns the batch without links to the same results."""
        sites = self._start() if not self.is_started else dict[str, None]()
        queries = self.store.find_queries([visit.id for visit in batch.visits if visit.outcome not in RETURNED])
        replaced: dict[int, Visit] = {}
        self.stopped_ids.clear()
        self.frontier.url_filter.unsafe_labels = {
            link.url for visit in batch.stored for link in visit.links if is_action_label(link.anchor)
        }
        for visit in batch.visits:
            if visit.role is not UrlRole.PAGE or (visit.outcome in RETURNED and visit.id not in queries):
                continue
            if visit.id in queries:
                replaced[visit.id] = self._read_result(visit, queries[visit.id], batch, now)
                sites[queries[visit.id].site] = None
            elif visit.form_data:
                self._read_page(visit, batch.depths[visit.id])
                sites[get_site(visit.url)] = None
        for site in sites:
            self._queue_queries(site, now)
        self.store.save()
        return replace(batch, stored=[replaced.get(visit.id, visit) for visit in batch.stored]) if replaced else batch

    def _start(self) -> dict[str, None]:
        """Add the recipes of the user, and return the sites with forms of earlier runs."""
        self.is_started = True
        for recipe in self.recipes:
            site = get_site(recipe.form.action)
            state = self.store.get_site(site)
            plan = state.add_form(recipe.form, self.store.next_id, 0, 0, RECIPE)
            if plan is not None:
                self._open_plan(site, state, plan, is_recipe=True)
        sites = dict.fromkeys(self.store.list_sites())
        for site in sites:  # a query that was not finished when the last run ended is not waited for
            state = self.store.get_site(site)
            waiting = set(self.store.list_waiting(site))
            for plan in state.plans:
                sent = [plan.runs[number] for number in plan.open_runs if plan.runs[number].is_sent]
                for run in sent if not waiting else ():
                    plan.finish_run(run)
        return sites

    def _open_plan(self, site: str, state: SiteForms, plan: FormPlan, *, is_recipe: bool = False) -> None:
        self.store.next_id += 1
        state.unsaved += 1
        plan.is_recipe = is_recipe
        if plan.state != SKIPPED:
            plan.start(self.mode, state.label_values)
        self.store.store_plan(site, plan)

    def _read_page(self, visit: Visit, depth: int) -> None:
        """Read the forms, links and words of an ordinary page."""
        site, page = get_site(visit.url), unpack_form_page(visit.form_data)
        state = self.store.get_site(site)
        state.count_new_lines(page.lines)
        if visit.nofollow or self.mode == RECIPE:
            return
        for form in page.forms:
            plan = state.add_form(form, self.store.next_id, visit.id, depth + 1, self.mode)
            if plan is not None:
                state.common_links.update(hash_text_item(link.url) for link in visit.links)
                state.common_links.update(map(hash_text_item, page.lines))
                self._open_plan(site, state, plan)

    def _read_result(self, visit: Visit, query: FormQuery, batch: VisitBatch, now: float) -> Visit:
        """Record the result of a query, and queue its next page. Returns the visit without other versions of it."""
        site = query.site
        state = self.store.get_site(site)
        plan = next((plan for plan in state.plans if plan.id == query.plan_id), None)
        if plan is None or query.run >= len(plan.runs):  # the state was lost in a crash
            self.store.record_result(query.url_id, 0)
            return visit
        run = plan.runs[query.run]
        state.requests += 1
        state.unsaved += 1
        if state.stop_reason or visit.status in (429, 503) or visit.reason is Reason.RATE_LIMITED:
            self.stopped_ids.add(visit.id)
            if not state.stop_reason:
                self._stop_site(site, state, f"status {visit.status}")
            return visit
        page = unpack_form_page(visit.form_data)
        links = sort_links(visit.url, plan.form, visit.links, page.next_url)
        if visit.outcome is Outcome.REDIRECT and self._follow_redirect(visit, query, plan, batch, now):
            return visit
        if visit.outcome not in (Outcome.FETCHED, Outcome.NOT_MODIFIED):
            plan.record_error(run)
            self.store.record_result(visit.id, 0)
            if plan.errors >= MAX_ERRORS or visit.reason in (Reason.ROBOTS, Reason.USAGE):
                plan.state, plan.reason = STOPPED, visit.reason or f"status {visit.status}"
            return visit
        result = self._measure_result(state, plan, run, page, links)
        self.store.record_result(visit.id, result.found)
        plan.record_page(run, result)
        for form in page.forms:
            if self.mode != RECIPE and not visit.nofollow:
                found = state.add_form(form, self.store.next_id, visit.id, plan.depth, self.mode)
                if found is not None:
                    self._open_plan(site, state, found)
        return replace(visit, links=links.records) if visit.links else visit

    def _follow_redirect(self, visit: Visit, query: FormQuery, plan: FormPlan, batch: VisitBatch, now: float) -> bool:
        """Queue the target of a redirect as the result of its query. Returns False if it is known or rejected."""
        target = resolve_url(batch.rows[visit.id].request_url or visit.url, visit.location)
        self.store.record_result(visit.id, 0)
        if target is None:
            return False
        address = (target.url, target.distinct_request_url)
        plan.requests += 1
        return self._enqueue(address, self.store.get_site(query.site), plan, query, now)

    def _measure_result(
        self, state: SiteForms, plan: FormPlan, run: QueryRun, page: FormPage, links: ResultLinks
    ) -> ResultPage:
        values = (
            0
            if plan.is_recipe
            else sum(add_dependent_values(plan.templates, run, plan.form, form) for form in page.forms)
        )
        if page.records:
            new = state.count_new_lines(page.records)
            return ResultPage(len(page.records), new, _hash_content(page.records), page.total, *links.next_address)
        records = state.select_records(links.records)
        known = self.frontier.url_store.get_packed([link.url for link in records])
        new_links = state.count_new_links(records, known)
        new_lines = state.count_new_lines(page.lines)
        plan.has_links |= new_links > 1
        is_linked = plan.has_links or not page.lines
        found = new_links if is_linked else (new_lines if new_lines >= MIN_NEW_LINES else 0)
        content = sorted(link.url for link in records) if is_linked else page.lines
        return ResultPage(
            len(records) if is_linked else state.count_records(page.lines),
            found,
            _hash_content([*content, str(run.bindings)] if values else content),
            find_total(page.lines) if is_linked else 0,  # a record has several lines
            *links.next_address,
            values,
        )

    def _queue_queries(self, site: str, now: float) -> None:
        """Queue queries of the active form of a site, as far as its plan and the limit allow."""
        state = self.store.get_site(site)
        while (plan := state.active_plan) is not None and not state.stop_reason:
            if not self._has_budget(site, state):
                return
            number = plan.take_query(state.words)
            if number is None:
                if plan.state == OPEN:
                    return
                self.store.store_plan(site, plan)
                self.log.write_message(f"form {plan.form.action}: {plan.requests} requests, {plan.found} new records")
                continue
            run = plan.runs[number]
            if run.next_url:
                address = (Url(run.next_url), run.next_request_url)
            else:
                url = normalize_url(build_query_url(plan.form, plan.list_pairs(run)))
                address = (url.url, url.distinct_request_url) if url else (Url(""), "")
            query = FormQuery(0, plan.id, number, run.pages + 1)
            if not address[0] or not self._enqueue(address, state, plan, query, now):
                plan.finish_run(run)

    def _has_budget(self, site: str, state: SiteForms) -> bool:
        return not self.limit or state.requests + len(self.store.list_waiting(site)) < self.limit

    def _enqueue(
        self, address: tuple[Url, str], state: SiteForms, plan: FormPlan, query: FormQuery, now: float
    ) -> bool:
        """Queue the URL of a query. Returns False if it is known or rejected."""
        url, request_url = address
        if url in self.frontier.url_store.get_packed([url]):
            return False
        candidate = CandidateUrl(url, request_url, plan.depth, UrlSource.FORM, plan.page_id, rank=FORM_RANK)
        entry = self.frontier.url_filter.admit(candidate, False, now)
        if entry is None or entry.reason:
            reason = entry.reason if entry else "rejected"
            if not plan.requests and plan.active_runs <= 1:
                plan.state, plan.reason = SKIPPED, str(reason)
            return False
        ids = self.frontier.enqueue([entry], now)
        state.next_query_at = max(now, state.next_query_at + DELAY_FACTOR * self.frontier.politeness.delay_seconds)
        self.frontier.delay_url(ids[url], state.next_query_at)
        run = plan.runs[query.run]
        self.store.add_query(replace(query, url_id=ids[url]), plan, run)
        return True

    def _stop_site(self, site: str, state: SiteForms, reason: str) -> None:
        """Stop the forms of a site, and drop its queries from the queue."""
        state.stop(reason)
        waiting: Sequence[int] = self.store.list_waiting(site)
        dequeue_urls(self.db, [(url_id, UrlState.SKIPPED, Reason.RATE_LIMITED) for url_id in waiting])
        for plan in state.plans:
            self.store.store_plan(site, plan)
        self.log.write_message(f"{site}: forms are not queried any more ({reason})")


def _hash_content(content: Sequence[str]) -> int:
    return xxh64_intdigest("\n".join(content).encode()) >> 1
