"""sanderling token: create, list, and revoke tokens of the HTTP API."""

import argparse
import importlib.util
import time
from contextlib import closing
from typing import TYPE_CHECKING

from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows
from sanderling.config.loader import parse_duration
from sanderling.config.time_format import format_iso, format_short
from sanderling.errors import MissingExtra, UsageError

if TYPE_CHECKING:  # the web server is an optional part
    from sanderling.web.rest.api_tokens import TokenStore

HELP = "Create, list, and revoke tokens of the HTTP API, which `sanderling serve` offers."
EXAMPLES = """\
examples:
  sanderling token create reports                                   may read
  sanderling token create deploy --scope crawl --scope read --expires 90d
  sanderling token list
  sanderling token revoke deploy                                    by name or number
"""
ACTIONS = ("create", "list", "revoke")
SCOPES = ("read", "crawl", "watch")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("name", nargs="?", default="", help="name of the token, or its number")
    parser.add_argument("--scope", action="append", choices=SCOPES, help="what it may do (repeatable; default: read)")
    parser.add_argument(
        "--expires", metavar="TIME", default="", help="how long it is valid, e.g. 90d (default: forever)"
    )


def run(call: CommandCall) -> int:
    """Create, list, or revoke tokens."""
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("argon2") is None:
        raise MissingExtra("serving", "search")
    from sanderling.web.rest.api_tokens import TokenStore

    if not call.collection.is_dir():
        raise UsageError(f"{call.collection} does not exist; give the collection with -C")
    if call.args.action != "list" and not call.args.name:
        raise UsageError(f"no name given: sanderling token {call.args.action} NAME")
    if call.args.action != "create" and (call.args.scope or call.args.expires):
        raise UsageError("--scope and --expires belong to sanderling token create")
    with closing(TokenStore(call.collection)) as store:
        match call.args.action:
            case "create":
                _create_token(call, store)
            case "revoke":
                token = store.revoke_token(call.args.name)
                print_json({"revoked": token.id}) if call.json else print_message(call, f"{token.name} was revoked")
            case _:
                _list_tokens(call, store)
    return 0


def _create_token(call: CommandCall, store: "TokenStore") -> None:
    """Print the secret on standard output, for scripts; it cannot be shown again."""
    from sanderling.web.rest.api_tokens import parse_scopes

    try:
        lifetime = parse_duration(call.args.expires) if call.args.expires else 0.0
    except ValueError as error:
        raise UsageError(f"--expires: {error}") from None
    token, secret = store.create_token(call.args.name, parse_scopes(call.args.scope or ["read"]), time.time(), lifetime)
    if call.json:
        print_json({"id": token.id, "name": token.name, "scopes": list(token.scopes),
                    "expires_at": format_iso(token.expires_at), "token": secret})  # fmt: skip
        return
    print_message(call, f"token {token.id} ({', '.join(token.scopes)}), shown only once:")
    print(secret)


def _list_tokens(call: CommandCall, store: "TokenStore") -> None:
    tokens = store.list_tokens()
    if call.json:
        for token in tokens:
            print_json({
                "id": token.id, "name": token.name, "scopes": list(token.scopes),
                "created_at": format_iso(token.created_at), "expires_at": format_iso(token.expires_at),
                "used_at": format_iso(token.used_at),
            })  # fmt: skip
        return
    rows = [
        (token.id, token.name, ", ".join(token.scopes), format_short(token.created_at),
         format_short(token.expires_at) if token.expires_at else "never",
         format_short(token.used_at) if token.used_at else "never")
        for token in tokens
    ]  # fmt: skip
    print_rows(rows, ("id", "name", "scopes", "created", "expires", "last used"), "no tokens")
