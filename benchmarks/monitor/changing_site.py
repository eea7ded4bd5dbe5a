"""A loopback site for monitors: true changes at known rounds, and what real pages change on every request.

Products, articles, and documentation pages. Noise: times, counters, tokens, advertisements, rotating recommendations.
Also error pages, a maintenance notice and a login page for a round each, and a banner on all pages.
"""

import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Self

ROUNDS = 14  # after the first visit
PAGES_PER_KIND = 8
COUNT = 3 * PAGES_PER_KIND
CHANGES_PER_ROUND = 2
ERROR_ROUND, NOTICE_ROUND, BANNER_ROUND, LOGIN_ROUND = 4, 6, 9, 11
DISTURBED_PAGES = (0, 8, 16)
WORDS = """
harbor river lantern market winter garden bridge copper signal meadow timber window island report
engine budget village teacher morning station weather history kitchen museum library orchard painter
journey council railway
""".split()  # noqa: SIM905  a list would be one word per line
ADS = ("Try our new app", "Save 20 % on shoes", "Holidays by the sea", "Car insurance from 5 EUR", "Learn Spanish fast")


class ChangingSite:
    """Serves the pages of the current round inside a `with` block."""

    priced_pages = range(PAGES_PER_KIND)  # their price or availability changes, of others the text

    def __init__(self, seed: int = 1) -> None:
        self.dice = Random(seed)
        self.noise = Random(seed + 1)
        self.round = 0
        self.requests: Counter[str] = Counter()
        self.bytes = 0
        self.count = COUNT
        self.texts = [[self._make_sentence() for _ in range(12)] for _ in range(self.count)]
        self.prices = [self.dice.randrange(20, 900) for _ in range(self.count)]
        self.stock = [True] * self.count
        self.true_changes: dict[int, set[int]] = {}
        self.lock = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.respond(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.root = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def urls(self) -> list[str]:
        """Addresses of all pages."""
        return [f"{self.root}/page-{number}.html" for number in range(self.count)]

    def advance(self) -> set[int]:
        """Begin the next round. Returns the pages that truly change in it."""
        self.round += 1
        free = [n for n in range(self.count) if n not in DISTURBED_PAGES]
        changed = set(self.dice.sample(free, CHANGES_PER_ROUND)) if self.round != BANNER_ROUND else set[int]()
        for number in changed:
            self._change(number)
        self.true_changes[self.round] = changed
        return changed

    def _change(self, number: int) -> None:
        text = self.texts[number]
        actions: list[Callable[[], None]] = [
            lambda: text.insert(self.dice.randrange(1, len(text)), self._make_sentence()),
            lambda: text.__setitem__(self.dice.randrange(len(text)), self._make_sentence()),
            lambda: text.__delitem__(self.dice.randrange(1, len(text))),
        ]
        if number in self.priced_pages:
            actions = [lambda: self._change_price(number), lambda: self._change_stock(number)]
        self.dice.choice(actions)()

    def _change_price(self, number: int) -> None:
        self.prices[number] += self.dice.choice((-10, -5, 5, 10))

    def _change_stock(self, number: int) -> None:
        self.stock[number] = not self.stock[number]

    def _make_sentence(self) -> str:
        return " ".join(self.dice.choices(WORDS, k=self.dice.randrange(8, 16))).capitalize() + "."

    def respond(self, request: BaseHTTPRequestHandler) -> None:
        """Send a page of the current round, without validators: every request gets other bytes."""
        name = request.path.removeprefix("/page-").removesuffix(".html")
        status, body = (404, "<p>not found</p>")
        with self.lock:
            if name.isdigit() and int(name) < self.count:
                self.requests[request.path] += 1
                status, body = self.render(int(name))
                self.bytes += len(body)
        data = body.encode()
        request.send_response(status)
        request.send_header("Content-Type", "text/html; charset=utf-8")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def render(self, number: int) -> tuple[int, str]:
        """Return status and HTML of a page."""
        if number in DISTURBED_PAGES and self.round == ERROR_ROUND:
            return 500, "<h1>500 Internal Server Error</h1><p>Something went wrong.</p>"
        if number in DISTURBED_PAGES and self.round == NOTICE_ROUND:
            return 200, (
                "<title>Maintenance</title><h1>Scheduled maintenance</h1>"
                "<p>We are down for maintenance. We will be back soon.</p>"
            )
        if number in DISTURBED_PAGES and self.round == LOGIN_ROUND:
            return 200, (
                "<title>Log in</title><form><h1>Log in</h1><p>Please log in to continue.</p>"
                "<input name=user><input type=password name=password><button>Log in</button></form>"
            )
        return 200, "<!doctype html>" + self.render_page(number)

    @property
    def banner(self) -> str:
        """HTML of the banner on all pages."""
        return "<div class=banner><p>Autumn sale: 30 % off everything!</p></div>" * (self.round >= BANNER_ROUND)

    def render_page(self, number: int) -> str:
        """Return the HTML of a page: product, article, or documentation."""
        dice, text = self.noise, self.texts[number]
        hour, minute = self.round % 24, dice.randrange(60)
        related = "".join(
            f"<li><a href=/page-{n}.html>See also {n}</a></li>" for n in dice.sample(range(self.count), 4)
        )
        head = (
            f"<title>Page {number} of the harbor site</title>"
            f"<link rel=stylesheet href=/s.css?v={dice.randrange(10**6)}>"
            f"<meta name=csrf-token content={dice.randrange(10**12):x}>"
        )
        kind = number // PAGES_PER_KIND
        if kind == 0:
            body = (
                f"<p class=price>{self.prices[number]}.00 EUR</p>"
                f"<p class=stock>{'In stock' if self.stock[number] else 'Sold out'}</p>"
                + "".join(f"<p>{sentence}</p>" for sentence in text)
                + f"<p class=viewers>{dice.randrange(3, 90)} people are viewing this right now</p>"
                f"<p class=rating>4.{dice.randrange(10)} out of 5 stars ({dice.randrange(100, 900)} reviews)</p>"
                f"<form><input type=hidden name=token value={dice.randrange(10**12):x}><button>Buy</button></form>"
            )
        elif kind == 1:
            body = (
                f"<p class=meta>Published {self.round + 2} hours ago"
                f" - {1000 + 37 * self.round + dice.randrange(30)} views"
                f" - {dice.randrange(5, 60)} comments</p>"
                + "".join(f"<p>{sentence}</p>" for sentence in text)
                + f"<aside class=ad><p>{dice.choice(ADS)}</p></aside>"
            )
        else:
            body = "".join(f"<p>{sentence}</p>" for sentence in text)
            body += f"<p class=generated>Page generated in 0.0{dice.randrange(10, 99)} seconds</p>"
        return (
            f"<html lang=en><head>{head}</head><body>{self.banner}"
            "<nav><a href=/page-0.html>Shop</a> <a href=/page-8.html>News</a> <a href=/page-16.html>Docs</a></nav>"
            f"<main><h1>Page {number}</h1>{body}</main>"
            f"<section class=related><h2>You may also like</h2><ul>{related}</ul></section><footer>"
            f"<p>Last updated: 2026-11-{1 + self.round:02d} {hour:02d}:{minute:02d}</p>"
            f"<p>{dice.randrange(100, 999)} visitors online</p></footer></body></html>"
        )
