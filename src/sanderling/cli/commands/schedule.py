"""sanderling schedule: show how workers are assigned to hosts."""

import argparse
import json

from sanderling.cli.arguments import CommandCall, print_json, print_rows
from sanderling.config.settings import AssignmentSettings
from sanderling.errors import UsageError
from sanderling.workers.assignment.ahp import compute_alonso_lamata_ratio, compute_eigenvector, compute_saaty_ratio
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.report import explain_choice
from sanderling.workers.assignment.strategy_registry import build_ahp_strategy, build_strategy
from sanderling.workers.control import is_crawl_running, send_command

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
    settings = call.get_settings(AssignmentSettings)
    chosen = build_strategy(settings)
    answer: dict[str, object] = {"schedule": settings.schedule}
    if isinstance(chosen, AhpStrategy):
        answer |= describe_weights(build_ahp_strategy(settings))
    last = load_last_choice(call)
    if last:
        answer["last"] = last
    if call.json:
        print_json(answer)
    else:
        print_schedule(answer)
    return 0


def describe_weights(strategy: AhpStrategy) -> dict[str, object]:
    """Return criterion weights and consistency ratios."""
    named = {c.name: round(w, 4) for c, w in zip(strategy.criteria, strategy.weights, strict=True)}
    return {
        "weights": named,
        "principal_eigenvalue": round(compute_eigenvector(strategy.judgments)[1], 4),
        "consistency_ratio": round(compute_saaty_ratio(strategy.judgments), 4),
        "consistency_ratio_alonso_lamata": round(compute_alonso_lamata_ratio(strategy.judgments), 4),
    }


def load_last_choice(call: CommandCall) -> dict[str, object]:
    if is_crawl_running(call.collection):
        return send_command(call.collection, {"do": "schedule"})
    file = call.collection / "logs" / "schedule.json"
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {file}: {error}") from None
    return found if isinstance(found, dict) else {}


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
