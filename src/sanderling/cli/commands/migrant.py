"""sanderling host: a small service beside a web server that obeys signed itineraries; and the keys for it."""

import argparse
import contextlib
import math
import re
import signal
import sys
import threading
import time
from pathlib import Path

from sanderling.cli.arguments import Call, print_json, say
from sanderling.config.loader import duration
from sanderling.config.settings import Workers
from sanderling.errors import UsageError
from sanderling.runtime.memory import look_for_cycles_seldom
from sanderling.urls.normalize import host_of, normalise, split
from sanderling.workers.migrant.client import TIMEOUT, Address, Failed, Post, Sent
from sanderling.workers.migrant.keys import allow, new_key, read_senders
from sanderling.workers.migrant.messages import MOMENT, End, Letter, Missed, Page, Wanted, new_nonce
from sanderling.workers.migrant.migrant_server import Service
from sanderling.workers.migrant.owner_rules import LONGEST_SECONDS, read_owner

HELP = "Run a host beside a web server: it obeys signed itineraries, crawls on the spot and sends only what is new."
EXAMPLES = """\
examples:
  sanderling host keygen crawler.key                    the crawler's side: writes crawler.key and crawler.key.pub
  sanderling host allow crawler.key.pub --name Anna     the owner's side: adds it to ./senders
  sanderling host run host.toml                         the owner's side: serve
  sanderling crawl https://www.example.org/ --via https://www.example.org:8443 --key crawler.key
  sanderling host watch https://www.example.org/ --via https://www.example.org:8443 --key crawler.key --for 1h

host.toml:
  name = "www.example.org:8443"       # what senders call this host
  listen = "0.0.0.0:8443"
  certificate = "cert.pem"            # with private_key; without them the service speaks plain HTTP
  private_key = "key.pem"
  [[site]]
  site = "https://www.example.org"
  root = "/var/www/html"              # or address = "127.0.0.1": ask the web server there
  not_paths = ["/private/"]
  hours = "22-6"                      # UTC
  pages_per_second = 50
  pack = "auto"                       # a first answer: small, fast, or small where the web server compresses
"""
GROUPS = (Workers,)
ONLY = ("via", "key", "via_ca")
ORDERS = ("run", "keygen", "allow", "watch")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("order", choices=ORDERS, metavar="|".join(ORDERS), help="what to do")
    parser.add_argument("what", help="the rules (run), a key file (keygen, allow) or a URL (watch)")
    parser.add_argument("--name", default="", help="whose key it is (allow)")
    parser.add_argument("--senders", default="senders", metavar="FILE", help="where to add it (allow; default senders)")
    parser.add_argument(
        "--for",
        dest="seconds",
        type=positive,
        default=3600.0,
        metavar="TIME",
        help="how long to watch, a day at most (default 1h)",
    )
    parser.add_argument(
        "--every", type=positive, default=60.0, metavar="TIME", help="between two looks (watch; default 1m)"
    )


def positive(text: str) -> float:
    """A time that passes, as an argument."""
    try:
        seconds = duration(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
    if not 0.0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no time that passes")
    return seconds


def run(call: Call) -> int:
    """Do one of four things."""
    return {"run": serve, "keygen": keygen, "allow": admit, "watch": watch}[call.args.order](call)


def keygen(call: Call) -> int:
    """Write a new pair of keys."""
    public = new_key(Path(call.args.what))
    print_json({"public_key": public}) if call.json else print(public)
    return 0


def admit(call: Call) -> int:
    """Let somebody send: by the file with the public key, or the key itself."""
    file = Path(call.args.what)
    try:
        public = file.read_text().strip() if file.is_file() else call.args.what
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} holds no public key; it is the line in the .pub file") from None
    allow(Path(call.args.senders), public, call.args.name)
    say(call, f"{call.args.name or public} may send itineraries to hosts that read {call.args.senders}")
    return 0


def serve(call: Call) -> int:
    """Serve until told to stop."""
    file = Path(call.args.what)
    owner = read_owner(file)
    look_for_cycles_seldom()
    service = Service(owner, file.resolve().parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: threading.Thread(target=service.shutdown).start())
    if not read_senders(service.senders_file):
        say(call, f"nobody may send yet: sanderling host allow KEY.pub --senders {service.senders_file}")
    say(call, f"{owner.name} listens on {owner.listen} for {', '.join(site.site for site in owner.site)}")
    with service:
        service.serve_forever(0.2)
    return 0


def watch(call: Call) -> int:
    """Send a letter that stays, and print what changes as it happens."""
    workers = call.settings(Workers)
    spelling = normalise(call.args.what)
    if spelling is None or len(workers.via) != 1 or not workers.key:
        raise UsageError("say what to watch and how: sanderling host watch URL --via https://host:8443 --key FILE")
    if call.args.seconds > LONGEST_SECONDS:
        raise UsageError("--for: a letter stays for a day at most; write 1d and send another then")
    post = Post(Address(workers.via[0].rstrip("/"), workers.key, workers.via_ca, TIMEOUT + call.args.every))
    now = time.time()
    letter = Letter(
        post.sender, post.address.receiver, host_of(spelling.url), now, now + call.args.seconds + 60, new_nonce(),
        (Wanted(split(spelling.wire)[1]),), whole=True, watch_seconds=call.args.seconds, every_seconds=call.args.every,
    )  # fmt: skip
    post.outbox.put(Sent(letter, {}))
    with contextlib.suppress(KeyboardInterrupt):
        return _print_news(call, post, letter, split(spelling.wire)[1])
    return 0


def _print_news(call: Call, post: Post, letter: Letter, first: str) -> int:
    """The first pass is what there is; every page after it is a change."""
    watching, until = False, letter.expires
    post.outbox.put(None)
    while post.thread.is_alive() or not post.inbox.empty():
        try:
            _, message, _ = post.inbox.get(timeout=0.5)
        except post.EMPTY:
            if time.time() > until:
                break
            continue
        match message:
            case Failed():
                raise UsageError(f"{post.address.url}: {message.note}")
            case End() if not watching:
                watching = True
                say(call, f"{message.pages} pages seen; watching")
            case Page() | Missed() if watching:
                print_json(news(message, letter, first))
                sys.stdout.flush()
    return 0


def news(message: Page | Missed, letter: Letter, first: str) -> dict[str, object]:
    """What a host says of one page, as a script reads it; `first` is the path of the one that was named."""
    url = letter.site + (first if isinstance(message.where, int) else message.where)
    if isinstance(message, Missed):
        return {"url": url, "outcome": message.outcome, "reason": message.reason}
    at, size = letter.issued + message.at / MOMENT, len(message.body)
    return {"url": url, "status": status_of(message.head), "at": at, "size": size, "digest": message.digest.hex()}


def status_of(head: bytes) -> int:
    """The status in the first line of an answer; 0 if there is none."""
    found = re.match(rb"HTTP/[0-9.]+ ([0-9]{3})", head)
    return int(found[1]) if found else 0
