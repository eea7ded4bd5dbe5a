"""sanderling explain: why a URL is queued, skipped, or scheduled as it is."""

import argparse

import msgspec

from sanderling.api.operations.page_inspection import (
    PRIORITY_LIST_COUNT,
    UrlExplanation,
    describe_ordering,
    explain_page,
)
from sanderling.cli.arguments import CommandCall, fold_line, print_json
from sanderling.config.time_format import format_iso

HELP = "Explain the state of a URL: reason, queue position, scores, next visit, delays."
EXAMPLES = """\
examples:
  sanderling explain https://example.org/docs/
  sanderling explain https://example.org/docs/ --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", help="a known URL")


def run(call: CommandCall) -> int:
    """Print state, class, scores, and schedule of a URL."""
    found = explain_page(call.collection, call.args.url)
    if call.json:
        print_json({**msgspec.to_builtins(found), "due_at": format_iso(found.due_at)})
    else:
        for name, text in _format_lines(found):
            print(f"  {name:<9} {fold_line(text, 12)}" if name else text)
    return 0


def _format_lines(explanation: UrlExplanation) -> list[tuple[str, str]]:
    reason = f" ({explanation.reason})" if explanation.reason else ""
    what = f"{explanation.state}{reason}{f': {explanation.note}' if explanation.note else ''}"
    via = f" on {explanation.referrer}" if explanation.referrer else ""
    lines = [
        ("", explanation.url),
        ("state", what),
        ("found", f"by {explanation.source}{via}, level {explanation.level}"),
        *(
            [("denied", "; ".join(f"{name}: {line}" for name, line in explanation.usage.items()))]
            if explanation.usage
            else []
        ),
        *([("form", explanation.form)] if explanation.form else []),
        ("class", f"{explanation.change_class}: {explanation.class_reason}"),
    ]
    if explanation.queue_position is not None:
        place = explanation.queue_position
        lines += [
            (
                "place",
                f"{place.host_position:,} of {place.host_waiting:,} at its host, "
                f"{place.overall_position:,} of {place.total_waiting:,} in all",
            ),
            ("list", f"{place.priority_list} of {PRIORITY_LIST_COUNT}"),
        ]
    description = describe_ordering(explanation.ordering)
    says = f" ({description})" if description else ""
    rank = (
        f"rank {explanation.queue_position.rank:.4g}, smaller is sooner"
        if explanation.queue_position
        else "it does not wait"
    )
    lines.append(("order", f"{explanation.ordering}{says}: {rank}"))
    lines.append(("scores", ", ".join(f"{name} {value:g}" for name, value in explanation.scores.items())))
    lines += [("rendered", explanation.rendering)] if explanation.rendering else []
    lines.append(("due", explanation.next_check))
    lines += [("waits", sentence) for sentence in explanation.blockers] or [("waits", "for nothing")]
    return lines
