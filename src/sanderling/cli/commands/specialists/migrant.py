"""sanderling migrant: run a worker beside a web server, and manage its keys."""

import argparse
import contextlib
import math
import re
import signal
import sys
import threading
import time
from pathlib import Path

from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.config.loader import parse_duration
from sanderling.config.settings import WorkerSettings
from sanderling.errors import UsageError
from sanderling.runtime.memory import reduce_gc_frequency
from sanderling.urls.normalize import get_host, normalize_url, split_url
from sanderling.workers.migrant.client import (
    DEFAULT_TIMEOUT_SECONDS,
    MigrantAddress,
    MigrantClient,
    RequestFailure,
    SentRequest,
)
from sanderling.workers.migrant.keys import add_sender, create_key, load_senders
from sanderling.workers.migrant.messages import (
    TICKS_PER_SECOND,
    EndMessage,
    MigrantRequest,
    MissedMessage,
    PageMessage,
    RequestedUrl,
    generate_nonce,
)
from sanderling.workers.migrant.migrant_server import MigrantServer
from sanderling.workers.migrant.owner_rules import MAX_REQUEST_SECONDS, load_owner_rules

HELP = "Run a worker beside a web server. It accepts signed requests and sends only pages that changed."
EXAMPLES = """\
examples:
  sanderling migrant keygen crawler.key                    the crawler's side: writes crawler.key and crawler.key.pub
  sanderling migrant allow crawler.key.pub --name Anna     the owner's side: adds it to ./senders
  sanderling migrant run host.toml                         the owner's side: serve
  sanderling crawl https://www.example.org/ --migrant https://www.example.org:8443 --key crawler.key
  sanderling migrant follow https://www.example.org/ --migrant https://www.example.org:8443 --key crawler.key --for 1h

host.toml:
  name = "www.example.org:8443"       # name of this migrant in requests
  listen = "0.0.0.0:8443"
  certificate = "cert.pem"            # with private_key; without them the service speaks plain HTTP
  private_key = "key.pem"
  [[site]]
  site = "https://www.example.org"
  root = "/var/www/html"              # or address = "127.0.0.1": request pages from the web server there
  not_paths = ["/private/"]
  hours = "22-6"                      # UTC
  pages_per_second = 50
  compression = "auto"                # of a first crawl: small, fast, or auto (small if the web server compresses)
"""
GROUPS = (WorkerSettings,)
ONLY = ("migrant", "key", "migrant_ca")
ACTIONS = ("run", "keygen", "allow", "follow")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("order", choices=ACTIONS, metavar="|".join(ACTIONS), help="action")
    parser.add_argument("what", help="rules file (run), key file (keygen, allow), or URL (follow)")
    parser.add_argument("--name", default="", help="name of the sender (allow)")
    parser.add_argument("--senders", default="senders", metavar="FILE", help="list of senders (allow; default senders)")
    parser.add_argument(
        "--for",
        dest="seconds",
        type=parse_positive_duration,
        default=3600.0,
        metavar="TIME",
        help="duration, at most a day (default 1h)",
    )
    parser.add_argument(
        "--every",
        type=parse_positive_duration,
        default=60.0,
        metavar="TIME",
        help="interval between two checks (follow; default 1m)",
    )


def parse_positive_duration(text: str) -> float:
    """Parse a duration argument greater than zero."""
    try:
        seconds = parse_duration(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
    if not 0.0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no time that passes")
    return seconds


def run(call: CommandCall) -> int:
    """Run a subcommand: keygen, allow, run, or follow."""
    return {"run": serve_migrant, "keygen": generate_key, "allow": allow_sender, "follow": follow_site}[
        call.args.order
    ](call)


def generate_key(call: CommandCall) -> int:
    """Generate a key pair and write both files."""
    public = create_key(Path(call.args.what))
    print_json({"public_key": public}) if call.json else print(public)
    return 0


def allow_sender(call: CommandCall) -> int:
    """Add a sender by public key or key file."""
    file = Path(call.args.what)
    try:
        public = file.read_text().strip() if file.is_file() else call.args.what
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} does not contain a public key; use the .pub file") from None
    add_sender(Path(call.args.senders), public, call.args.name)
    print_message(call, f"{call.args.name or public} may send requests to migrants that use {call.args.senders}")
    return 0


def serve_migrant(call: CommandCall) -> int:
    """Serve requests until interrupted."""
    file = Path(call.args.what)
    owner = load_owner_rules(file)
    reduce_gc_frequency()
    service = MigrantServer(owner, file.resolve().parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: threading.Thread(target=service.shutdown).start())
    if not load_senders(service.senders_file):
        print_message(call, f"no sender allowed yet: sanderling migrant allow KEY.pub --senders {service.senders_file}")
    print_message(call, f"{owner.name} listens on {owner.listen} for {', '.join(site.site for site in owner.site)}")
    with service:
        service.serve_forever(0.2)
    return 0


def follow_site(call: CommandCall) -> int:
    """Send a request that stays open, and print changes as they are reported."""
    workers = call.get_settings(WorkerSettings)
    spelling = normalize_url(call.args.what)
    if spelling is None or len(workers.migrant) != 1 or not workers.key:
        raise UsageError("URL or migrant missing: sanderling migrant follow URL --migrant https://host:8443 --key FILE")
    if call.args.seconds > MAX_REQUEST_SECONDS:
        raise UsageError("--for is at most 1d; start another request after that")
    post = MigrantClient(
        MigrantAddress(
            workers.migrant[0].rstrip("/"), workers.key, workers.migrant_ca, DEFAULT_TIMEOUT_SECONDS + call.args.every
        )
    )
    now = time.time()
    letter = MigrantRequest(
        post.public_key,
        post.address.receiver,
        get_host(spelling.url),
        now,
        now + call.args.seconds + 60,
        generate_nonce(),
        (RequestedUrl(split_url(spelling.request_url)[1]),),
        is_whole_site=True,
        watch_seconds=call.args.seconds,
        watch_interval_seconds=call.args.every,
    )
    post.outbox.put(SentRequest(letter, {}))
    with contextlib.suppress(KeyboardInterrupt):
        return _print_changes(call, post, letter, split_url(spelling.request_url)[1])
    return 0


def _print_changes(call: CommandCall, client: MigrantClient, migrant_request: MigrantRequest, first_path: str) -> int:
    """Print reported pages; after the first pass every page is a change."""
    watching, until = False, migrant_request.expires_at
    client.outbox.put(None)
    while client.thread.is_alive() or not client.inbox.empty():
        try:
            _, message, _ = client.inbox.get(timeout=0.5)
        except client.EMPTY:
            if time.time() > until:
                break
            continue
        match message:
            case RequestFailure():
                raise UsageError(f"{client.address.url}: {message.detail}")
            case EndMessage() if not watching:
                watching = True
                print_message(call, f"{message.page_count} pages seen; watching")
            case PageMessage() | MissedMessage() if watching:
                print_json(build_event_object(message, migrant_request, first_path))
                sys.stdout.flush()
    return 0


def build_event_object(
    message: PageMessage | MissedMessage, migrant_request: MigrantRequest, first_path: str
) -> dict[str, object]:
    url = migrant_request.site + (first_path if isinstance(message.target, int) else message.target)
    if isinstance(message, MissedMessage):
        return {"url": url, "outcome": message.outcome, "reason": message.reason}
    at, size = migrant_request.issued_at + message.issue_offset / TICKS_PER_SECOND, len(message.body)
    return {"url": url, "status": parse_status(message.head), "at": at, "size": size, "digest": message.digest.hex()}


def parse_status(head: bytes) -> int:
    found = re.match(rb"HTTP/[0-9.]+ ([0-9]{3})", head)
    return int(found[1]) if found else 0
