"""sanderling history: all visits of a page, with a plot."""

import argparse
from collections.abc import Sequence

import msgspec

from sanderling.api.operations.page_inspection import PastVisit, build_field_row, load_page_history
from sanderling.cli.arguments import CommandCall, print_json, print_rows
from sanderling.config.settings import FieldSettings
from sanderling.config.time_format import format_iso, format_short

HELP = "List all visits of a page with their result and changes, and the values its fields had."
EXAMPLES = """\
examples:
  sanderling history https://example.org/
  sanderling history https://example.org/ --json
  sanderling history https://shop.example/lamp --fields price:price='css:.price'    every price it had
"""
GROUPS = (FieldSettings,)
PLOT_WIDTH = 72  # columns of the plot
PLOT_SYMBOLS = {"changed": "█", "same": "·", "gone": "×", "trouble": "!"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", help="a known URL")


def run(call: CommandCall) -> int:
    """Print the visits of a page and their plot."""
    page = load_page_history(call.collection, call.args.url, call.get_settings(FieldSettings).fields)
    key, visits = page.url, page.visits
    if call.json:
        past = [{**msgspec.to_builtins(visit), "at": format_iso(visit.at)} for visit in visits]
        print_json(
            {
                "url": key,
                "class": page.change_class,
                "etag": page.etag,
                "last_modified": page.last_modified,
                "moved_from": page.former_urls,
                "visits": past,
                **({"fields": [build_field_row(key, item) for item in page.values]} if page.has_fields else {}),
            }
        )
        return 0
    looks, turns = ("" if number == 1 else "s" for number in (len(visits), page.change_count))
    print(f"{key}: {len(visits)} visit{looks}, {page.change_count} change{turns}, class {page.change_class}")
    for url in page.former_urls:
        print(f"moved here from {url}")
    if page.etag or page.last_modified:
        print(f"validators: {' '.join(part for part in (page.etag, page.last_modified) if part)}")
    if len(visits) > 1:
        print(
            f"\n{plot_visits(visits)}\n{format_short(visits[0].at)[:16]:<{PLOT_WIDTH - 16}}"
            f"{format_short(visits[-1].at)[:16]}"
        )
        print("  ".join(f"{mark} {name}" for name, mark in PLOT_SYMBOLS.items()) + "\n")
    first = next((visit for visit in visits if visit.bytes_differ), None)
    print_rows(
        [(format_short(v.at), v.outcome, v.status, v.size, v.reason, describe_change(v, v is first)) for v in visits],
        ("when", "outcome", "status", "bytes", "reason", "changed"),
    )
    if page.has_fields:
        print()
        print_rows(
            [(format_short(item.fetched_at), item.name, format_value(item.value)) for item in page.values],
            ("when", "field", "value"),
        )
    return 0


def format_value(value: object) -> str:
    """Return a value of a field for the table; a price as amount and currency."""
    if isinstance(value, dict) and set(value) == {"amount", "currency"}:
        return f"{value['amount']:g} {value['currency']}".rstrip()
    if isinstance(value, list):
        return ", ".join(map(format_value, value))
    return "not found" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def describe_change(visit: PastVisit, is_first: bool) -> str:
    """Return the kinds of a change, or a note that only insignificant bytes differ."""
    return "first version" if is_first else visit.kinds or "no (only noise differs)" * visit.bytes_differ


def get_plot_symbol(visit: PastVisit) -> str:
    if visit.outcome in ("fetched", "redirect", "not_modified"):
        return PLOT_SYMBOLS["changed" if visit.changed else "same"]
    return PLOT_SYMBOLS["gone" if visit.outcome == "gone" else "trouble"]


def plot_visits(visits: Sequence[PastVisit]) -> str:
    """Plot visits on a time line; of several in a column, show the most significant."""
    start, span = visits[0].at, max(visits[-1].at - visits[0].at, 1e-9)
    line = [" "] * PLOT_WIDTH
    rank = list(PLOT_SYMBOLS.values())
    for visit in visits:
        column = min(int((visit.at - start) / span * PLOT_WIDTH), PLOT_WIDTH - 1)
        sign = get_plot_symbol(visit)
        if line[column] == " " or rank.index(sign) < rank.index(line[column]):
            line[column] = sign
    return "".join(line)
