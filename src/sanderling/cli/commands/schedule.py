"""sanderling schedule: how the next worker is chosen, and why the last one won."""

import argparse
import json

from sanderling.cli.arguments import Call, print_json, print_rows
from sanderling.config.settings import Scheduling
from sanderling.errors import UsageError
from sanderling.workers.assignment.ahp import alonso_lamata_ratio, eigenvector, saaty_ratio
from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.report import explain
from sanderling.workers.assignment.strategy_registry import ahp, plan
from sanderling.workers.control import ask, is_running

HELP = "Show the schedule: the weight of every criterion, whether the judgements agree, and why a worker won."
EXAMPLES = """\
examples:
  sanderling schedule --show
  sanderling schedule --show -C my-site          while a crawl runs there, or after it: the last choice too
  sanderling schedule --show --schedule wrr

in sanderling.toml:
  schedule = "ahp"
  criteria = ["load", "bandwidth", "latency"]
  judgements = ["1 1/3 1/2", "3 1 2", "2 1/2 1"]
"""
GROUPS = (Scheduling,)


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("--show", action="store_true", help="print weights, consistency and the last choice (default)")


def run(call: Call) -> int:
    """Print the schedule; a matrix that contradicts itself is refused with the worst pair named."""
    settings = call.settings(Scheduling)
    chosen = plan(settings)
    answer: dict[str, object] = {"schedule": settings.schedule}
    if isinstance(chosen, Ahp):
        answer |= weights(ahp(settings))
    last = last_choice(call)
    if last:
        answer["last"] = last
    if call.json:
        print_json(answer)
    else:
        show(answer)
    return 0


def weights(chosen: Ahp) -> dict[str, object]:
    """The weights of the criteria and the ratios that say whether the judgements agree."""
    named = {c.name: round(w, 4) for c, w in zip(chosen.criteria, chosen.weights, strict=True)}
    return {
        "weights": named,
        "principal_eigenvalue": round(eigenvector(chosen.judgements)[1], 4),
        "consistency_ratio": round(saaty_ratio(chosen.judgements), 4),
        "consistency_ratio_alonso_lamata": round(alonso_lamata_ratio(chosen.judgements), 4),
    }


def last_choice(call: Call) -> dict[str, object]:
    """Why the last migrant won: asked of the crawl that runs, else as the last one left it."""
    if is_running(call.collection):
        return ask(call.collection, {"do": "schedule"})
    file = call.collection / "logs" / "schedule.json"
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {file}: {error}") from None
    return found if isinstance(found, dict) else {}


def show(answer: dict[str, object]) -> None:
    """The same for a person."""
    print(f"schedule: {answer['schedule']}")
    named = answer.get("weights")
    if isinstance(named, dict):
        print_rows([(name, f"{weight:.4f}") for name, weight in named.items()], ("criterion", "weight"))
        print(
            f"consistency ratio {answer['consistency_ratio']} (Saaty), {answer['consistency_ratio_alonso_lamata']}"
            " (Alonso and Lamata); at most 0.1 is accepted"
        )
    last = answer.get("last")
    if isinstance(last, dict) and last:
        print("\n" + explain(last))
