"""sanderling watch: add watches, and run the service that checks pages and sends notifications."""

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from sanderling.api.operations.change_report import build_change_object
from sanderling.api.operations.runs import has_collection
from sanderling.api.types import FinishReason, ReportedChange
from sanderling.api.watches import (
    CONDITION_HELP,
    HubAddress,
    RefreshMode,
    Watch,
    WatchService,
    WatchStore,
    build_watch,
    format_change,
    has_watches,
    open_watches,
    parse_page_url,
    send_test_messages,
    set_common_digest,
    update_watches_from_file,
)
from sanderling.cli.arguments import CommandCall, parse_share, print_json, print_message
from sanderling.cli.crawl_request import build_request, load_request
from sanderling.cli.progress import EXIT_CODE_BY_FINISH, prepare_run
from sanderling.cli.watch_output import build_watch_object, describe_watch, list_watches, print_history, redact_target
from sanderling.config.settings import (
    HttpSettings,
    LimitSettings,
    PolitenessSettings,
    RenderSettings,
    WorkerSettings,
)
from sanderling.config.time_format import format_short
from sanderling.errors import UsageError
from sanderling.terminal import strip_control_characters

HELP = "Watch pages or sites: check them, print each change as it is found, and send notifications."
EXAMPLES = """\
examples:
  sanderling watch https://example.org/lamp --every 30m --selector '#price'
  sanderling watch https://example.org/lamp --condition 'below 100' --notify https://hooks.example.org/x
  sanderling watch https://example.org/ --site --notify mailto://user:password@example.org --digest-every 1d
  sanderling watch https://api.example.org/items.json --selector '$.items[*].price'
  sanderling watch --similar products            pages like the samples of: sanderling similar ... --save products
  sanderling watch                               run the service until Ctrl-C
  sanderling watch --once                        check what is due, notify, and end (for cron)
  sanderling watch --digest-all 1d --notify mailto://user:password@example.org
  sanderling watch --websub https://me.example/hooks        hubs announce changes; a proxy forwards to 127.0.0.1:8440
  sanderling watch --list
  sanderling watch --pause lamp                  also --resume, --remove, --test, --history
"""
GROUPS = (PolitenessSettings, HttpSettings, RenderSettings, WorkerSettings, LimitSettings)
NO_DIGEST = "off"
ACTIONS = ("pause", "resume", "remove", "test", "history")
SETTINGS = (
    "every", "selector", "ignore", "condition", "notify", "digest_every", "kind", "min_significance", "days", "hours",
    "timezone",
    "template", "name", "pattern",
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("urls", nargs="*", default=[], metavar="URL", help="pages to watch (none: run the service)")
    parser.add_argument("--site", action="store_true", help="watch the whole sites of the URLs")
    parser.add_argument("--pattern", metavar="PATTERN", help="also all stored pages that match (* matches anything)")
    parser.add_argument("--similar", metavar="NAME", help="pages like the samples saved by similar --save NAME")
    parser.add_argument("--name", help="name of the watch (default: its URL)")
    parser.add_argument("--every", metavar="TIME", help="check interval, e.g. 30m (default: adaptive)")
    parser.add_argument(
        "--selector",
        action="append",
        metavar="PART",
        help="only this part: CSS, //XPath, $.json.path, or re:EXPRESSION (repeatable)",
    )
    parser.add_argument("--ignore", action="append", metavar="PART", help="ignore this part (repeatable)")
    parser.add_argument(
        "--condition", action="append", metavar="CONDITION", help=f"report only if: {CONDITION_HELP}".replace("%", "%%")
    )
    parser.add_argument("--kind", action="append", metavar="KIND", help="only this kind of change (repeatable)")
    parser.add_argument("--min-significance", type=parse_share, metavar="X", help="from 0 to 1")
    parser.add_argument(
        "--notify", action="append", metavar="ADDRESS", help="webhook URL or apprise address (repeatable)"
    )
    parser.add_argument("--digest-every", metavar="TIME", help="collect changes for this time into one message")
    parser.add_argument(
        "--digest-all", metavar="TIME", help="also send the changes of all watches to --notify in one message; or off"
    )
    parser.add_argument("--template", metavar="TEXT", help="message, e.g. '{title}: {text}'")
    parser.add_argument("--days", metavar="DAYS", help="check only on these days, e.g. mon-fri or sat,sun")
    parser.add_argument("--hours", metavar="HH:MM-HH:MM", help="check only in these hours (several: with commas)")
    parser.add_argument("--timezone", metavar="ZONE", help="time zone of --hours, e.g. Europe/Berlin (default UTC)")
    parser.add_argument(
        "--websub",
        metavar="URL",
        help="address at which WebSub hubs reach this service: subscribe to the hubs of watched pages and feeds",
    )
    parser.add_argument(
        "--websub-listen", metavar="HOST:PORT", help="where to listen for hubs (default 127.0.0.1:8440)"
    )  # fmt: skip
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--once", action="store_true", help="check what is due once, send notifications, and end")
    modes.add_argument("--list", action="store_true", help="list the watches")
    for name, text in zip(
        ACTIONS,
        ("stop checking", "check again", "delete a watch", "send a test message", "its last changes and numbers"),
        strict=True,
    ):
        modes.add_argument(f"--{name}", metavar="WATCH", help=f"{text}: name, number, or URL")


def run(call: CommandCall) -> int:
    """Add watches, administer them, or run the service."""
    args, action = call.args, next((name for name in ACTIONS if getattr(call.args, name)), "")
    if args.digest_all:
        return _set_digest(call)
    if args.pattern == "":
        raise UsageError("--pattern is empty; write for example 'example.org/news/*'")
    if args.urls or args.pattern or args.similar:
        return _add_watches(call)
    if given := [name for name in SETTINGS if getattr(args, name)]:
        raise UsageError(f"--{given[0].replace('_', '-')} needs a URL: sanderling watch URL --{given[0]} ...")
    _load_settings_file(call)
    if not has_watches(call.collection):
        raise UsageError(f"no watches in {call.collection}; add one with: sanderling watch URL")
    store = open_watches(call.collection)
    try:
        if args.list:
            return list_watches(call, store)
        if action:
            return _run_action(call, store, action)
        if not store.load_watches():
            raise UsageError(f"no watches in {call.collection}; add one with: sanderling watch URL")
    finally:
        store.close()
    return _run_service(call)


def interrupted(_call: CommandCall) -> None:
    """Print nothing: the service had not started."""


def _load_settings_file(call: CommandCall) -> None:
    """Add or update the watches of the settings file."""
    named = call.args.settings or os.environ.get("SANDERLING_SETTINGS", "")
    update_watches_from_file(call.collection, Path(named or "sanderling.toml"))


def _add_watches(call: CommandCall) -> int:
    args = call.args
    urls = [parse_page_url(url) for url in args.urls]
    if args.similar:
        from sanderling.api.similarity import find_saved

        urls += [url for url in find_saved(call.collection, args.similar) if url not in urls]
        args.name = args.name or args.similar
    if args.name and len(urls) > 1 and args.site:
        raise UsageError("--name with several sites is ambiguous; add them one by one")
    table = {name: value for name in SETTINGS if (value := getattr(args, name)) not in (None, [], "")}
    if args.site:
        tables = [table | {"sites": [url]} for url in urls]
    else:
        tables = [table | {"urls": [url]} for url in urls] if not args.name else [table | {"urls": urls}]
    watches = [build_watch(one, time.time()) for one in tables or [table]]
    store = open_watches(call.collection)
    for watch in watches:
        id_ = store.save_watch(watch)
        if call.json:
            print_json(build_watch_object(id_, watch))
        else:
            print(f"watching {strip_control_characters(watch.name)}{describe_watch(watch)}")
    store.close()
    folder = f" -C {call.collection}" if call.args.collection else ""
    print_message(call, f"start the checks with: sanderling watch{folder}")
    return 0


def _set_digest(call: CommandCall) -> int:
    """Set or remove the digest of all watches."""
    args = call.args
    if args.urls or args.pattern:
        raise UsageError("--digest-all is about all watches; add the watch without it")
    if args.digest_all != NO_DIGEST and not args.notify:
        raise UsageError("--digest-all needs --notify ADDRESS")
    is_off = args.digest_all == NO_DIGEST
    set_common_digest(call.collection, "" if is_off else args.digest_all, args.notify or ())
    print_message(call, "no digest of all watches" if is_off else f"digest of all watches every {args.digest_all}")
    return 0


def _run_action(call: CommandCall, store: WatchStore, action: str) -> int:
    id_, watch = store.find_watch(getattr(call.args, action))
    if action == "remove":
        store.delete_watch(id_)
    elif action in ("pause", "resume"):
        store.save_watch(replace(watch, paused=action == "pause"))
    elif action == "test":
        return _send_test(store, watch)
    else:
        return print_history(call, store, id_)
    print_message(call, f"{action}d {watch.name}")
    return 0


def _send_test(store: WatchStore, watch: Watch) -> int:
    """Send a message to every target, so that an address is known to work."""
    failures = 0
    for target, error in send_test_messages(store, watch):
        failures += bool(error)
        print(f"{redact_target(target)}: {error or 'delivered'}", file=sys.stderr)
    return 9 if failures else 0


def _run_service(call: CommandCall) -> int:
    request = load_request(call) if has_collection(call.collection) else build_request(call)
    service = WatchService(call.collection, request, partial(_print_event, call), hubs=_parse_hub_address(call))
    count = len(service.watches)
    if not call.args.once:
        print_message(call, f"{count} watch{'' if count == 1 else 'es'}; Ctrl-C ends the service")

    summary = service.run(
        RefreshMode.ONCE if call.args.once else RefreshMode.CONTINUOUS, on_start=partial(prepare_run, call)
    )
    return EXIT_CODE_BY_FINISH[FinishReason(summary.finish_reason)]


def _parse_hub_address(call: CommandCall) -> HubAddress | None:
    """Return where hubs reach the service. None: no hub is subscribed to."""
    url, listen = call.args.websub, call.args.websub_listen
    if not url:
        if listen:
            raise UsageError("--websub-listen needs --websub URL, the address at which hubs reach this machine")
        return None
    if call.args.once:
        raise UsageError("--websub needs the service to run: leave out --once")
    if not url.startswith(("http://", "https://")) or "?" in url or "#" in url:
        raise UsageError(f"--websub {url}: write an address such as https://me.example/websub")
    host, colon, port = (listen or "127.0.0.1:8440").rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--websub-listen {listen}: write HOST:PORT, for example 127.0.0.1:8440")
    return HubAddress(url, host, int(port))


def _print_event(call: CommandCall, watch: Watch, event: ReportedChange) -> None:
    if call.json:
        print_json({"watch": watch.name} | build_change_object(event))
    else:
        text = format_change(event).replace("\n", "\n  ")
        print(f"{format_short(event.seen_at)}  {strip_control_characters(watch.name)}\n  {text}\n")
    sys.stdout.flush()
