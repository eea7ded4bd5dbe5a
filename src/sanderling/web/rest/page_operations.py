"""Operations on stored pages, their versions, and changes."""

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct

from sanderling.api.change import Change
from sanderling.api.page import Page, PageVersion
from sanderling.api.types import ChangeKind
from sanderling.errors import UsageError
from sanderling.web.rest import answers
from sanderling.web.rest.operation import ApiCall, ApiError, Operation
from sanderling.web.rest.times import to_time

MAX_CONTENT_CHARS = 5_000_000
T = TypeVar("T")
Url = Annotated[str, Meta(min_length=1, max_length=8_000, description="a stored URL")]
When = Annotated[
    str,
    Meta(
        max_length=40,
        pattern=r"^$|^[0-9]{1,6}(ms|s|m|h|d|w)$"
        r"|^20[0-9]{2}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])"
        r"([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{6})?)?Z?)?$",
        description="7d (ago), 2026-11-15, or a time in ISO 8601",
    ),
]
Pattern = Annotated[str, Meta(min_length=1, max_length=2_000, description="only URLs that match; * matches anything")]
Limit = Annotated[int, Meta(ge=1, le=1_000, description="maximum number of entries")]
Offset = Annotated[int, Meta(ge=0, le=1_000_000, description="entries to skip")]
VersionNumber = Annotated[int, Meta(ge=0, le=1_000_000, description="number of a version; 0: the last, or before it")]


class PageListParameters(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Pattern = "*"
    changed_since: When = ""
    after: Annotated[str, Meta(max_length=8_000, description="`next` of the part before")] = ""
    limit: Limit = 100


class UrlParameters(Struct, frozen=True, forbid_unknown_fields=True):
    url: Url


class VisitParameters(Struct, frozen=True, forbid_unknown_fields=True):
    url: Url
    limit: Limit = 100


class ContentParameters(Struct, frozen=True, forbid_unknown_fields=True):
    url: Url
    format: Annotated[
        Literal["markdown", "text", "html", "data"],
        Meta(description="main content as Markdown, visible text, the body as text, or structured data"),
    ] = "markdown"
    at: When = ""


class ChangeParameters(Struct, frozen=True, forbid_unknown_fields=True):
    since: When = "7d"
    kind: ChangeKind | None = None
    pattern: Pattern = "*"
    min_significance: Annotated[float, Meta(ge=0, le=1)] = 0.0
    limit: Limit = 50
    offset: Offset = 0


class DiffParameters(Struct, frozen=True, forbid_unknown_fields=True):
    url: Url
    old: VersionNumber = 0
    new: VersionNumber = 0
    format: Literal["markdown", "text", "html"] = "markdown"


def list_pages(call: ApiCall) -> answers.PageList:
    given = call.parameters
    with call.services.open_collection() as collection:
        found = collection.pages(given.pattern, changed_since=given.changed_since or None, after=given.after)
        pages = _find(lambda: list(islice(found, given.limit + 1)))
    entries = [build_page_entry(page) for page in pages[: given.limit]]
    return answers.PageList(entries, entries[-1].url if len(pages) > given.limit else "")


def get_page(call: ApiCall) -> answers.PageEntry:
    with call.services.open_collection() as collection:
        return build_page_entry(_find(lambda: collection.page(call.parameters.url)))


def get_content(call: ApiCall) -> answers.ContentAnswer:
    given = call.parameters
    with call.services.open_collection() as collection:
        at = given.at
        page = _find(lambda: collection.at(given.url, at) if at else collection.page(given.url))
        record = _find(lambda: page.record)
        text = _read_text(page, given.format)
        if len(text) > MAX_CONTENT_CHARS:
            raise ApiError(413, f"the page has {len(text):,} characters as {given.format}, which is too much")
        fetched_at = _parse_warc_date(record.get_field("WARC-Date"))
        return answers.ContentAnswer(
            page.url, page.title, record.status, page.mime, fetched_at, f"sha256:{sha256(record.body).hexdigest()}",
            given.format, text, page.data if given.format == "data" else {},
        )  # fmt: skip


def _read_text(page: Page, format_: str) -> str:
    read = {"markdown": lambda: page.markdown, "text": lambda: page.text, "html": lambda: page.source}.get(format_)
    return read() if read else ""


def _parse_warc_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def list_versions(call: ApiCall) -> list[answers.VersionEntry]:
    with call.services.open_collection() as collection:
        versions = _find(lambda: collection.versions(call.parameters.url))
        return [build_version_entry(version) for version in versions]


def list_visits(call: ApiCall) -> list[answers.VisitEntry]:
    visits = call.app_state.crawl_view.list_visits(call.parameters.url, call.parameters.limit)
    if not visits:
        raise ApiError(404, f"{call.parameters.url} has not been visited")
    return [
        answers.VisitEntry(
            to_time(row.at), row.outcome, row.reason, row.status, row.changed, list(row.kinds), row.significance,
            row.size, row.wire_bytes, row.seconds,
        )
        for row in visits
    ]  # fmt: skip


def list_links(call: ApiCall) -> answers.LinksAnswer:
    with call.services.open_collection() as collection:
        found = _find(lambda: collection.links(call.parameters.url))
    return answers.LinksAnswer(found.url, list(found.outgoing), list(found.incoming))


def list_changes(call: ApiCall) -> answers.ChangeListAnswer:
    given = call.parameters
    with call.services.open_collection() as collection:
        found = collection.changes(
            since=given.since or 0.0,
            kind=given.kind or (),
            min_significance=given.min_significance,
            pattern=given.pattern,
        )
    shown = found[given.offset : given.offset + given.limit]
    return answers.ChangeListAnswer(len(found), [build_change_entry(change) for change in shown])


def get_diff(call: ApiCall) -> answers.DiffAnswer:
    given = call.parameters
    with call.services.open_collection() as collection:
        versions = _find(lambda: collection.versions(given.url))
        new = given.new or len(versions)
        diff = _find(lambda: collection.diff(given.url, given.old or new - 1, new))
        render = {"markdown": diff.as_markdown, "text": diff.as_text, "html": diff.as_html}[given.format]
        return answers.DiffAnswer(
            given.url, build_version_entry(diff.old), build_version_entry(diff.new), list(diff.kinds), given.format,
            render(),
        )  # fmt: skip


def _find(find: Callable[[], T]) -> T:
    """Look up a page or version; an unknown one is an answer with status 404."""
    try:
        return find()
    except UsageError as error:
        raise ApiError(404, str(error)) from None


def build_page_entry(page: Page) -> answers.PageEntry:
    return answers.PageEntry(
        page.url, page.title, page.status, page.mime, page.language, page.depth, page.first_seen, page.last_visit,
        page.last_change, page.change_count, page.digest, page.duplicate_of, page.location,
    )  # fmt: skip


def build_version_entry(version: PageVersion) -> answers.VersionEntry:
    return answers.VersionEntry(version.number, version.fetched_at, version.digest)


def build_change_entry(change: Change) -> answers.ChangeEntry:
    return answers.ChangeEntry(
        change.url, change.title, change.seen_at, change.previous_at, list(change.kinds), change.significance,
        change.summary,
    )  # fmt: skip


PAGE_OPERATIONS = (
    Operation(
        name="list_pages", method="GET", path="/pages", summary="List stored pages, in order of discovery",
        run=list_pages, answer=answers.PageList, parameters=PageListParameters,
    ),
    Operation(
        name="get_page", method="GET", path="/page", summary="Get the catalog entry of a page",
        run=get_page, answer=answers.PageEntry, parameters=UrlParameters,
    ),
    Operation(
        name="get_content", method="GET", path="/page/content",
        summary="Get the content of a page as Markdown, text, HTML, or structured data, now or at a time",
        run=get_content, answer=answers.ContentAnswer, parameters=ContentParameters,
    ),
    Operation(
        name="list_versions", method="GET", path="/page/versions", summary="List the stored versions, oldest first",
        run=list_versions, answer=list[answers.VersionEntry], parameters=UrlParameters,
    ),
    Operation(
        name="list_visits", method="GET", path="/page/visits", summary="List the visits of a page, newest first",
        run=list_visits, answer=list[answers.VisitEntry], parameters=VisitParameters,
    ),
    Operation(
        name="list_links", method="GET", path="/page/links",
        summary="List the links of a page, and the pages that link to it",
        run=list_links, answer=answers.LinksAnswer, parameters=UrlParameters,
    ),
    Operation(
        name="get_diff", method="GET", path="/page/diff", summary="Compare two versions word by word",
        run=get_diff, answer=answers.DiffAnswer, parameters=DiffParameters,
    ),
    Operation(
        name="list_changes", method="GET", path="/changes", summary="List changes, newest first",
        run=list_changes, answer=answers.ChangeListAnswer, parameters=ChangeParameters,
    ),
)  # fmt: skip
