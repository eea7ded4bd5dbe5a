"""Operations on watches."""

from contextlib import closing
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from sanderling.api.types import ChangeKind, Watch
from sanderling.api.watches import WatchStore, build_watch, describe_definition, summarize_change
from sanderling.config.redact import redact_password
from sanderling.web.rest import answers
from sanderling.web.rest.api_tokens import TokenScope
from sanderling.web.rest.crawl_options import DURATION
from sanderling.web.rest.operation import ApiCall, ApiError, Operation
from sanderling.web.rest.page_operations import Limit
from sanderling.web.rest.times import to_time

MAX_WATCHES = 1_000
Text = Annotated[str, Meta(max_length=2_000)]
Texts = Annotated[list[Text], Meta(max_length=100)]
Duration = Annotated[float, Meta(ge=0, le=31_536_000)] | Annotated[str, DURATION]


class WatchStart(Struct, frozen=True, forbid_unknown_fields=True):
    """A watch to add, with the keys of a `[[watch]]` table. One of the same name is replaced."""

    name: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    urls: Texts | UnsetType = UNSET
    sites: Texts | UnsetType = UNSET
    pattern: Text | UnsetType = UNSET
    every: Duration | UnsetType = UNSET
    selector: Texts | UnsetType = UNSET
    ignore: Texts | UnsetType = UNSET
    kinds: Annotated[list[ChangeKind], Meta(max_length=20)] | UnsetType = UNSET
    min_significance: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    conditions: Texts | UnsetType = UNSET
    notify: Texts | UnsetType = UNSET
    digest: Duration | UnsetType = UNSET
    template: Text | UnsetType = UNSET
    hours: Annotated[str, Meta(max_length=20)] | UnsetType = UNSET
    timezone: Annotated[str, Meta(max_length=60)] | UnsetType = UNSET
    paused: bool = False


class WatchChangeRequest(Struct, frozen=True, forbid_unknown_fields=True):
    paused: bool


class EventParameters(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50


def add_watch(call: ApiCall) -> answers.WatchEntry:
    given = {name: value for name, value in msgspec.to_builtins(call.body).items() if value is not UNSET}
    watch = build_watch({name: value for name, value in given.items() if value != ""}, call.app_state.clock())
    with closing(WatchStore(call.services.folder)) as store:
        known = store.load_watches()
        if len(known) >= MAX_WATCHES and watch.name not in {old.name for old in known.values()}:
            raise ApiError(409, f"there are {len(known)} watches; delete one first")
        return build_watch_entry(store, store.save_watch(watch), watch)


def list_watches(call: ApiCall) -> list[answers.WatchEntry]:
    with closing(WatchStore(call.services.folder)) as store:
        return [build_watch_entry(store, id_, watch) for id_, watch in store.load_watches().items()]


def get_watch(call: ApiCall) -> answers.WatchEntry:
    with closing(WatchStore(call.services.folder)) as store:
        return build_watch_entry(store, call.id, _require_watch(store, call.id))


def change_watch(call: ApiCall) -> answers.WatchEntry:
    with closing(WatchStore(call.services.folder)) as store:
        watch = replace(_require_watch(store, call.id), paused=call.body.paused)
        return build_watch_entry(store, store.save_watch(watch), watch)


def delete_watch(call: ApiCall) -> None:
    with closing(WatchStore(call.services.folder)) as store:
        _require_watch(store, call.id)
        store.delete_watch(call.id)


def list_watch_events(call: ApiCall) -> list[answers.WatchChange]:
    with closing(WatchStore(call.services.folder)) as store:
        _require_watch(store, call.id)
        return [
            answers.WatchChange(
                event.url, event.name if event.shared_urls else event.title, to_time(event.seen_at),
                [str(kind) for kind in event.change.kinds], event.change.significance, summarize_change(event.change),
            )
            for event in store.load_events(call.id, call.parameters.limit)
        ]  # fmt: skip


def _require_watch(store: WatchStore, id_: int) -> Watch:
    watch = store.load_watches().get(id_)
    if watch is None:
        raise ApiError(404, f"there is no watch {id_}")
    return watch


def build_watch_entry(store: WatchStore, id_: int, watch: Watch) -> answers.WatchEntry:
    """Describe a watch. Passwords in addresses of notification services are left out."""
    definition: dict[str, Any] = describe_definition(watch)
    if "notify" in definition:
        definition["notify"] = [redact_password(target) for target in definition["notify"]]
    count, last = store.count_events(id_)
    return answers.WatchEntry(id_, watch.name, watch.paused, definition, count, to_time(last))


WATCH_OPERATIONS = (
    Operation(
        name="list_watches", method="GET", path="/watches", summary="List the watches",
        run=list_watches, answer=list[answers.WatchEntry],
    ),
    Operation(
        name="add_watch", method="POST", path="/watches", summary="Add a watch, or replace the one of that name",
        run=add_watch, answer=answers.WatchEntry, body=WatchStart, scope=TokenScope.WATCH, status=201,
        conflict="there are too many watches",
    ),
    Operation(
        name="get_watch", method="GET", path="/watches/{id}", summary="Get a watch",
        run=get_watch, answer=answers.WatchEntry,
    ),
    Operation(
        name="change_watch", method="PATCH", path="/watches/{id}", summary="Pause or resume a watch",
        run=change_watch, answer=answers.WatchEntry, body=WatchChangeRequest, scope=TokenScope.WATCH,
    ),
    Operation(
        name="delete_watch", method="DELETE", path="/watches/{id}", summary="Delete a watch with its history",
        run=delete_watch, answer=None, scope=TokenScope.WATCH, status=204,
    ),
    Operation(
        name="list_watch_events", method="GET", path="/watches/{id}/events", summary="List the changes it reported",
        run=list_watch_events, answer=list[answers.WatchChange], parameters=EventParameters,
    ),
)  # fmt: skip
