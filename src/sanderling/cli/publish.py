"""`sanderling publish`: the other side of the wire, beside a web server."""

import argparse

from sanderling.cli.frame import Call
from sanderling.publisher import command

HELP = command.HELP
EXAMPLES = command.EXAMPLES


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take what the publisher takes on its own."""
    command.add_arguments(parser)


def run(call: Call) -> int:
    """Publish."""
    return command.run(call.args)
