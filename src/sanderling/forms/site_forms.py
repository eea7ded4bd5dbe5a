"""Forms of a site: their plans, and which is queried next. A site has a single active form at a time."""

from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec import Struct, field
from xxhash import xxh32_intdigest

from sanderling.db.connection import Connection, select_by_ids
from sanderling.forms.form_plan import FormPlan
from sanderling.forms.form_rules import find_refusal, is_choice, list_values
from sanderling.forms.query_runs import OPEN, SKIPPED, STOPPED, QueryRun
from sanderling.forms.query_words import WordTable
from sanderling.html.form_fields import PageForm
from sanderling.models import Link, Url

RECIPE = "recipes"  # mode of a crawl that sends only forms of the user
MAX_FORMS = 200  # of a site
MAX_KNOWN_LINES = 400_000
MAX_LABELS = 500
SAVE_INTERVAL = 20  # results of a site between two writes of its state


def hash_text_item(text: str) -> int:
    return xxh32_intdigest(text.encode("utf-8", "replace"))


class SiteForms(Struct, array_like=True):
    """State of the forms of a site."""

    plans: list[FormPlan] = field(default_factory=list)
    keys: set[int] = field(default_factory=set)  # forms that are known, also the skipped ones
    known_lines: set[int] = field(default_factory=set)  # hashes of the lines of text of all pages
    known_links: set[int] = field(default_factory=set)  # of results
    common_links: set[int] = field(default_factory=set)  # of pages with a form, and their lines: navigation
    words: WordTable = field(default_factory=WordTable)
    label_values: dict[str, list[str]] = field(default_factory=dict)  # values by label (LVS of HiWE)
    requests: int = 0
    stop_reason: str = ""
    next_query_at: float = 0.0
    unsaved: int = 0

    def add_form(self, form: PageForm, plan_id: int, page_id: int, depth: int, mode: str) -> FormPlan | None:
        """Add a form of a page. None: it is known."""
        key = hash_text_item(repr((form.method, form.action.partition("?")[0], sorted(f.name for f in form.fields))))
        if key in self.keys or len(self.keys) >= MAX_FORMS:
            return None
        self.keys.add(key)
        plan = FormPlan(plan_id, page_id, depth, form)
        if mode != RECIPE and (reason := find_refusal(form, mode)):
            plan.state, plan.reason = SKIPPED, reason
            return plan
        self._learn_labels(form)
        self.plans.append(plan)
        return plan

    def _learn_labels(self, form: PageForm) -> None:
        for found in form.fields:
            if is_choice(found) and len(self.label_values) < MAX_LABELS:
                for label in {found.name.lower(), found.label.lower()} - {""}:
                    self.label_values.setdefault(label, list_values(found))

    def count_records(self, lines: Iterable[str]) -> int:
        """Return how many lines are not part of the navigation."""
        return sum(hash_text_item(line) not in self.common_links for line in lines)

    def count_new_lines(self, lines: Iterable[str]) -> int:
        """Remember lines of text, and count their words. Returns how many are new."""
        hashes = {hash_text_item(line): line for line in lines}
        new = [line for digest, line in hashes.items() if digest not in self.known_lines]
        if len(self.known_lines) < MAX_KNOWN_LINES:
            self.known_lines |= hashes.keys()
        self.words.add_lines(new)
        return len(new)

    def select_records(self, links: Sequence[Link]) -> list[Link]:
        """Return links that are not part of the navigation."""
        return [link for link in links if hash_text_item(link.url) not in self.common_links]

    def count_new_links(self, links: Sequence[Link], known: Collection[Url]) -> int:
        """Remember links. Returns how many neither the crawl nor an earlier query found."""
        hashes = {hash_text_item(link.url): link for link in links}
        new = sum(digest not in self.known_links and link.url not in known for digest, link in hashes.items())
        if len(self.known_links) < MAX_KNOWN_LINES:
            self.known_links |= hashes.keys()
        return new

    @property
    def active_plan(self) -> FormPlan | None:
        """Return the form that is queried now; None: no form is left."""
        return next((plan for plan in self.plans if plan.state == OPEN), None)

    def stop(self, reason: str) -> None:
        """Send no query to this site any more."""
        self.stop_reason = reason
        for plan in self.plans:
            if plan.state == OPEN:
                plan.state, plan.reason = STOPPED, reason


class FormQuery(Struct, frozen=True):
    """A URL that was made from a form."""

    url_id: int
    plan_id: int
    run: int
    page: int
    site: str = ""  # whose page has the form


class FormStore:
    """Stores the forms of all sites. The caller holds the transaction."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.next_id = 1 + int(db.execute("SELECT coalesce(max(id), 0) FROM forms").fetchone()[0])
        self._sites: dict[str, SiteForms] = {}

    def list_sites(self) -> list[str]:
        rows = self.db.execute("SELECT site FROM form_sites").fetchall()
        return list(dict.fromkeys([*(site for (site,) in rows), *self._sites]))

    def get_site(self, site: str) -> SiteForms:
        if site not in self._sites:
            row = self.db.execute("SELECT state FROM form_sites WHERE site = ?", (site,)).fetchone()
            self._sites[site] = msgspec.msgpack.decode(row[0], type=SiteForms) if row else SiteForms()
        return self._sites[site]

    def store_plan(self, site: str, plan: FormPlan) -> None:
        """Insert or update the summary of a form."""
        names = ", ".join(found.name for found in plan.form.fields if found.name)[:500]
        row = (plan.id, site, plan.page_id, plan.form.action, names, plan.state, plan.reason)
        self.db.execute(
            "INSERT INTO forms (id, site, page, action, fields, state, reason, requests, useful, found)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state,"
            " reason = excluded.reason, requests = excluded.requests, useful = excluded.useful, found = excluded.found",
            (*row, plan.requests, plan.useful, plan.found),
        )

    def save(self, *, is_final: bool = False) -> None:
        """Write the sites that changed enough; `is_final`: all that changed."""
        for site, state in self._sites.items():
            if state.unsaved >= (1 if is_final else SAVE_INTERVAL):
                state.unsaved = 0
                for plan in state.plans:
                    self.store_plan(site, plan)
                self.db.execute(
                    "INSERT INTO form_sites VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET state = excluded.state",
                    (site, msgspec.msgpack.encode(state)),
                )

    def add_query(self, query: FormQuery, plan: FormPlan, run: QueryRun) -> None:
        text = plan.describe_run(run) + (f", page {query.page}" if query.page > 1 else "")
        self.db.execute(
            "INSERT INTO form_queries (url, form, run, page, query) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (url) DO NOTHING",
            (query.url_id, query.plan_id, query.run, query.page, text),
        )

    def find_queries(self, url_ids: Sequence[int]) -> dict[int, FormQuery]:
        """Return the queries among these URLs that have no result yet."""
        sql = (
            "SELECT q.url, q.form, q.run, q.page, f.site FROM form_queries AS q JOIN forms AS f ON f.id = q.form"
            " WHERE q.found < 0 AND q.url IN ({})"
        )
        return {row[0]: FormQuery(*row) for row in select_by_ids(self.db, sql, url_ids)}

    def record_result(self, url_id: int, found: int) -> None:
        self.db.execute("UPDATE form_queries SET found = ? WHERE url = ?", (found, url_id))

    def list_waiting(self, site: str) -> list[int]:
        """Return the URLs of a site that have no result yet."""
        sql = "SELECT q.url FROM form_queries AS q JOIN forms AS f ON f.id = q.form WHERE f.site = ? AND q.found < 0"
        return [url for (url,) in self.db.execute(sql, (site,))]
