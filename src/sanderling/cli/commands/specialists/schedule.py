"""sanderling schedule: show how workers are assigned to hosts."""

import argparse

from sanderling.api.operations.crawl_control import describe_assignment, explain_choice
from sanderling.cli.arguments import CommandCall, print_json, print_rows
from sanderling.config.settings import AssignmentSettings

HELP = "Show how workers are assigned: criterion weights, consistency, and the last choice."
EXAMPLES = """\
examples:
  sanderling schedule --show
  sanderling schedule --show -C my-site          of a running or completed crawl, with the last choice
  sanderling schedule --show --schedule wrr

in sanderling.toml:
  schedule = "ahp"
  criteria = ["load", "bandwidth", "latency"]
  judgements = ["1 1/3 1/2", "3 1 2", "2 1/2 1"]
"""
GROUPS = (AssignmentSettings,)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--show", action="store_true", help="print weights, consistency and the last choice (default)")


def run(call: CommandCall) -> int:
    """Print the assignment. Inconsistent judgments raise UsageError that names the worst pair."""
    answer = describe_assignment(call.collection, call.get_settings(AssignmentSettings))
    if call.json:
        print_json(answer)
    else:
        print_schedule(answer)
    return 0


def print_schedule(schedule: dict[str, object]) -> None:
    """Print the assignment as text."""
    print(f"schedule: {schedule['schedule']}")
    named = schedule.get("weights")
    if isinstance(named, dict):
        print_rows([(name, f"{weight:.4f}") for name, weight in named.items()], ("criterion", "weight"))
        print(
            f"consistency ratio {schedule['consistency_ratio']} (Saaty),"
            f" {schedule['consistency_ratio_alonso_lamata']} (Alonso, Lamata); at most 0.1 is good"
        )
    last = schedule.get("last")
    if isinstance(last, dict) and last:
        print("\n" + explain_choice(last))
