"""Records of the plan of a form: templates, queries, and pages of results."""

from msgspec import Struct, field

Bindings = dict[int, str]  # field number: value
NEW_SHARE = 0.1  # of the records of a page, for it to be useful
OPEN, DONE, DROPPED, STOPPED, SKIPPED = "open", "done", "dropped", "stopped", "skipped"


class QueryTemplate(Struct, array_like=True):
    """Fields that are filled in, and the queries waiting."""

    kind: str  # default, choices, words, range
    inputs: list[int]
    queue: list[Bindings] = field(default_factory=list)
    state: str = OPEN
    sent: int = 0
    answered: int = 0
    useful: int = 0
    signatures: list[int] = field(default_factory=list)  # distinct ones
    recent: list[bool] = field(default_factory=list)
    reason: str = ""


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


class ResultPage(Struct, frozen=True):
    """Numbers of a page of results."""

    records: int
    found: int  # new records
    signature: int
    has_next: bool
    total: int = 0  # records of the query, as the page says; 0: unknown

    @property
    def is_useful(self) -> bool:
        return self.found > 0 and self.found >= NEW_SHARE * self.records
