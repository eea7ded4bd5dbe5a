"""sanderling experiment: reproduce the tables of the papers."""

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import sanderling
from sanderling.cli.arguments import CommandCall, print_json
from sanderling.errors import UsageError

HELP = "Run the experiments that reproduce the papers' tables, and say which numbers hold."
EXAMPLES = """\
examples:
  sanderling experiment list
  sanderling experiment ahp_ranking gpc_depth
  sanderling experiment all                     as make tables; exit code 1 if a number left its tolerance
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("name", nargs="+", metavar="list|NAME|all", help="experiments to run")


def run(call: CommandCall) -> int:
    """Run experiments; they are part of the source tree, not of the package."""
    tree = Path(sanderling.__file__).parents[2]
    if (tree / "experiments" / "run.py").is_file() and str(tree) not in sys.path:
        sys.path.insert(0, str(tree))
    if importlib.util.find_spec("experiments") is None:
        raise UsageError("the experiments come with the source of Sanderling, not with the installed package")
    experiments = importlib.import_module("experiments.run")
    if call.args.name[0].lower() != "list":
        experiments.chosen(call.args.name)  # or say what is wrong
    code: int = _print_json_results(experiments, call.args.name) if call.json else experiments.main(call.args.name)
    return code


def _print_json_results(experiments: Any, names: list[str]) -> int:
    if names[0].lower() == "list":
        for name in experiments.names():
            print_json({"name": name, "title": experiments.title(name)})
        return 0
    holds = []
    for name in experiments.chosen(names):
        table = experiments.run(name)
        rows = [{"what": r.what, "printed": r.printed, "corrected": r.corrected, "ours": r.ours, "holds": r.holds}
                for r in table.rows]  # fmt: skip
        print_json({"name": name, "title": table.title, "holds": table.holds, "rows": rows})
        holds.append(table.holds)
    return 0 if all(holds) else 1
