"""Records of the plan of a form: templates, queries, pages of results, and their yields."""

from msgspec import Struct, field

Bindings = dict[int, str]  # field number: value
NEW_SHARE = 0.1  # of the records of a page, for it to be useful
DECAY = 0.9  # of a yield with each request: the last ten count most
LATER_PAGES = -1  # yield of all pages of a template but the first of each query
OPEN, DONE, DROPPED, STOPPED, SKIPPED = "open", "done", "dropped", "stopped", "skipped"


class Yield(Struct, array_like=True):
    """New records per request; older requests count less."""

    requests: float = 0.0
    found: float = 0.0

    def add_request(self, found: int) -> None:
        self.requests, self.found = self.requests * DECAY + 1, self.found * DECAY + found

    def estimate(self, prior: float) -> float:
        """Return the new records expected of the next request; `prior`: of the first one."""
        return (self.found + prior) / (self.requests + 1)


class QueryTemplate(Struct, array_like=True):
    """Fields that are filled in, and the queries waiting."""

    kind: str  # default, choices, words, range, listed
    inputs: list[int]
    queue: list[Bindings] = field(default_factory=list)
    state: str = OPEN
    sent: int = 0
    answered: int = 0
    useful: int = 0
    signatures: list[int] = field(default_factory=list)  # distinct ones
    recent: list[bool] = field(default_factory=list)
    reason: str = ""
    yields: dict[int, Yield] = field(default_factory=dict)  # of words: by their band
    used_words: dict[str, int] = field(default_factory=dict)  # word: its band
    first_pages: int = 0  # queries that were answered

    def get_yield(self, band: int = 0) -> Yield:
        return self.yields.setdefault(band, Yield())


class QueryRun(Struct, array_like=True):
    """A query with its list of results, which may have several pages."""

    template: int
    bindings: Bindings
    size: int = 0  # records listed
    total: int = 0  # records that the page says it has; 0: unknown
    pages: int = 0
    found: int = 0  # new records
    misses: int = 0
    is_finished: bool = False
    is_sent: bool = False  # a request is on its way
    next_url: str = ""  # of the page that follows
    next_request_url: str = ""
    gain: float = 0.0  # new records expected of that page
    is_divided: bool = False  # a range whose parts are queried


class ResultPage(Struct, frozen=True):
    """Numbers of a page of results."""

    records: int
    found: int  # new records
    signature: int
    total: int = 0  # records of the query, as the page says; 0: unknown
    next_url: str = ""  # empty: the last page
    next_request_url: str = ""
    values: int = 0  # of other fields, which the page offers for this query only

    @property
    def is_useful(self) -> bool:
        return self.values > 0 or (self.found > 0 and self.found >= NEW_SHARE * self.records)
