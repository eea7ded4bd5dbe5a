"""Output of `sanderling watch`: watches, their changes and numbers."""

from msgspec import to_builtins

from sanderling.api.operations.change_report import build_change_object
from sanderling.api.watches import Watch, WatchStore, list_watch_states
from sanderling.cli.arguments import CommandCall, print_json, print_rows
from sanderling.config.time_format import format_iso, format_short

MAX_HISTORY = 50


def describe_watch(watch: Watch) -> str:
    parts = [f"every {watch.every:g} s" if watch.every else "as often as it changes"]
    parts += [f"only {part}" for part in watch.selector] + [f"if {one}" for one in watch.conditions]
    return f" ({', '.join(parts)})"


def build_watch_object(id_: int, watch: Watch) -> dict[str, object]:
    shown: dict[str, object] = to_builtins(watch)
    return {
        "id": id_,
        **shown,
        "added_at": format_iso(watch.added_at),
        "notify": [redact_target(t) for t in watch.notify],
    }


def redact_target(target: str) -> str:
    """Hide the secrets that an address of a notification service contains."""
    scheme, _, rest = target.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2] + "/" if scheme in ("http", "https") else ""
    return f"{scheme}://{host}…"


def list_watches(call: CommandCall, store: WatchStore) -> int:
    rows = []
    for found in list_watch_states(store):
        watch = found.watch
        if call.json:
            extra = {
                "changes": found.change_count, "last_change": format_iso(found.last_change), "state": found.state
            }  # fmt: skip
            print_json(build_watch_object(found.id, watch) | extra)
        every = f"{watch.every:g} s" if watch.every else "adaptive"
        rows.append((found.id, watch.name, every, found.change_count, format_short(found.last_change), found.state))
    if not call.json:
        print_rows(rows, ("id", "watch", "every", "changes", "last change", "state"), "no watches")
    return 0


def print_history(call: CommandCall, store: WatchStore, watch_id: int) -> int:
    events = store.load_events(watch_id, MAX_HISTORY)
    if call.json:
        for event in events:
            print_json(build_change_object(event))
        for _, at, value, unit in store.load_values(watch_id):
            print_json({"at": format_iso(at), "value": value, "unit": unit})
        return 0
    rows = [(format_short(event.seen_at), event.url, " ".join(event.words)) for event in events]
    print_rows(rows, ("seen at", "url", "change"), "no changes yet")
    values = [(format_short(at), f"{value:g} {unit}") for _, at, value, unit in store.load_values(watch_id)]
    if values:
        print()
        print_rows(values, ("seen at", "number"))
    return 0
