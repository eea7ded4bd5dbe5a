"""sanderling experiment: the published tables again, ours beside theirs."""

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path

import sanderling
from sanderling.cli.frame import Call
from sanderling.errors import UsageError

HELP = "Run the experiments that reproduce the papers' tables, and say which numbers hold."
EXAMPLES = """\
examples:
  sanderling experiment list
  sanderling experiment ahp_ranking gpc_depth
  sanderling experiment all                     what make tables runs; exit code 1 if a number left its tolerance
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("name", nargs="+", metavar="list|NAME|all", help="which experiments")


def run(call: Call) -> int:
    """Run them; they live in the source tree, beside the package."""
    tree = Path(sanderling.__file__).parents[2]
    if (tree / "experiments" / "run.py").is_file() and str(tree) not in sys.path:
        sys.path.insert(0, str(tree))
    if importlib.util.find_spec("experiments") is None:
        raise UsageError("the experiments come with the source of Sanderling, not with the installed package")
    code: int = importlib.import_module("experiments.run").main(call.args.name)
    return code
