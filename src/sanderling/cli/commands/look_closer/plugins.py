"""sanderling plugins: list the installed plugins."""

import argparse

import msgspec

from sanderling.cli.arguments import EXIT_OK, EXIT_USAGE, CommandCall, print_json, print_rows
from sanderling.plugins.plugin_registry import list_plugins

HELP = "List the installed plugins, with the error of each that cannot be loaded."
EXAMPLES = """\
examples:
  sanderling plugins
  sanderling plugins --json
"""


def arguments(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments: all plugins are listed."""


def run(call: CommandCall) -> int:
    """List the plugins. The exit code is 4 if one cannot be loaded."""
    plugins = list_plugins()
    if call.json:
        for plugin in plugins:
            print_json(msgspec.to_builtins(plugin))
    else:
        rows = [
            (plugin.group.removeprefix("sanderling."), plugin.name, f"{plugin.package} {plugin.version}",
             plugin.error or "ok")
            for plugin in plugins
        ]  # fmt: skip
        print_rows(rows, ("group", "name", "package", "state"), "no plugins are installed")
    return EXIT_USAGE if any(plugin.error for plugin in plugins) else EXIT_OK
