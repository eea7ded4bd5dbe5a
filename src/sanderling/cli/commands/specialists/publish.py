"""sanderling publish: publish the changes of your own site for crawlers."""

import argparse

from sanderling.cli.arguments import CommandCall
from sanderling.publisher import cli

HELP = cli.HELP
EXAMPLES = cli.EXAMPLES


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the stand-alone publisher."""
    cli.add_arguments(parser)


def run(call: CommandCall) -> int:
    return cli.run(call.args)
