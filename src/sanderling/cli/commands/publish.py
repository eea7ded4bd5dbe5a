"""`sanderling publish`: the other side of the wire, beside a web server."""

import argparse

from sanderling.cli.arguments import CommandCall
from sanderling.publisher import cli

HELP = cli.HELP
EXAMPLES = cli.EXAMPLES


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take what the publisher takes on its own."""
    cli.add_arguments(parser)


def run(call: CommandCall) -> int:
    """Publish."""
    return cli.run(call.args)
