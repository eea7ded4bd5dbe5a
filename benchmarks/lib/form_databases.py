"""Databases of 10,000 records behind forms of different makes, on one loopback port each, with tripwires.

A tripwire is a form or link that must never be requested. Every request is recorded with the records that it showed.
"""

import html
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self
from urllib.parse import parse_qs, quote, urlsplit

RECORDS = 10_000
Parameters = Mapping[str, list[str]]


class Record(NamedTuple):
    """A row of a database."""

    number: int
    title: str
    category: int
    state: int
    year: int
    month: int
    price: int
    kind: int


def build_records(seed: int) -> list[Record]:
    """Return records with words and categories of a Zipf distribution."""
    source = random.Random(seed)
    syllables = """
        ba be bo ca ce da de di fa fo ga go ha ka ke la le lo ma me mi na ne no pa po ra re ro sa se ta te to va vi za
    """
    parts = syllables.split()
    words = ["".join(source.choices(parts, k=source.randint(2, 4))) for _ in range(6_000)]
    word_weights = [1 / (n + 5) for n in range(len(words))]
    category_weights = [1 / (n + 2) for n in range(20)]
    return [
        Record(
            number,
            " ".join(dict.fromkeys(source.choices(words, word_weights, k=source.randint(3, 7)))),
            source.choices(range(20), category_weights)[0],
            source.randrange(50),
            source.randint(1950, 2020),
            source.randint(1, 12),
            int(source.lognormvariate(5, 1)) + 1,
            source.randrange(4),
        )
        for number in range(RECORDS)
    ]


TRIPWIRES = """
<form action="/trip/login"><input name=user><input type=password name=secret><button>Go</button></form>
<form action="/trip/contact"><input name=subject><textarea name=message></textarea><button>Send</button></form>
<form action="/trip/newsletter"><input name=mail type=email><button>Subscribe</button></form>
<form action="/trip/news2" class="newsletter"><input name=email_address><button>OK</button></form>
<form action="/trip/comment" id=commentform><input name=name><input name=comment><button>Post comment</button></form>
<form action="/trip/pay"><select name=card_type><option>visa<option>other</select><input name=cvv><button>Pay</button>
</form>
<form action="/trip/upload"><input type=file name=f><select name=k><option>1<option>2</select></form>
<form action="/trip/cart/add"><select name=size><option>S<option>M</select><button>Add to cart</button></form>
<form action="/trip/manage"><input type=hidden name=action value=delete><select name=id><option>1<option>2</select>
</form>
<form action="/trip/vote"><input type=radio name=v value=1><input type=radio name=v value=2><button>Vote</button></form>
<form action="/trip/post" method=post><select name=x><option>1<option>2</select><button>Search</button></form>
<form action="/trip/token"><input type=hidden name=csrf_token value=abc><select name=x><option>1<option>2</select>
</form>
<a href="/trip/logout">Log out</a> <a href="/trip/item?action=delete&id=4">x</a> <a href="/trip/x7">Delete</a>
<a href="/trip/shop?add-to-cart=17">+</a> <a href="/trip/item/5/delete">y</a>
"""


class FormSite:
    """A web site with one database and one make of form; subclasses define the form and the query."""

    name = ""
    page_size = 20
    cap = 0  # results of a query that can be reached; 0: all
    options: tuple[str, ...] = ()  # further flags of the crawl
    entry = "/"
    head = "<title>Records of the county</title>"
    form = ""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
        self.shown: list[tuple[str, list[int]]] = []  # address and records of each request that a form made possible
        self.trips: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                status, headers, body = site.respond(self.path)
                self.send_response(status)
                for field, value in headers.items():
                    self.send_header(field, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def respond(self, target: str) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(target)
        plain = {"Content-Type": "text/html; charset=utf-8"}
        if parts.path.startswith("/trip"):
            self.trips.append(target)
            return 200, plain, b"tripped"
        if parts.path == "/robots.txt":
            return 404, plain, b""
        parameters = parse_qs(parts.query, keep_blank_values=True)
        if parts.path == self.entry and not parts.query:
            about = " ".join(record.title for record in self.records[:: RECORDS // 40])
            body = f"{self.head}<h1>Records</h1><p>News: {about}</p><a href=/about>About</a>{self.form}{TRIPWIRES}"
            return 200, plain, body.encode()
        return self.answer(target, parts.path, parameters, plain)

    def answer(
        self, target: str, path: str, parameters: Parameters, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if path != "/search":
            return (200, headers, b"<p>About us") if path == "/about" else (404, headers, b"not here")
        found = self.select(parameters)
        page = int(next(iter(parameters.get("page", ["1"])), "1") or 1)
        return 200, headers, self.show(target, found, page, lambda number: self.link_page(parameters, number))

    def show(self, target: str, found: Sequence[Record], page: int, link: Callable[[int], str]) -> bytes:
        """Return a page of results, and record what it shows."""
        total, found = len(found), found[: self.cap] if self.cap else found
        part = found[(page - 1) * self.page_size : page * self.page_size]
        self.shown.append((target, [record.number for record in part]))
        last = -(-len(found) // self.page_size)
        numbers = [n for n in (1, page - 1, page + 1, page + 2, last) if 1 <= n <= last and n != page]
        pages = " ".join(f'<a href="{html.escape(link(n))}">{n}</a>' for n in dict.fromkeys(numbers))
        rows = "".join(self.show_record(record) for record in part)
        return f"{self.head}<h1>{total} results</h1><ul>{rows}</ul><p>{pages}</p>{self.form}{TRIPWIRES}".encode()

    def show_record(self, record: Record) -> str:
        return (
            f"<li><a href=/record/{record.number}>{record.title}</a> {CATEGORIES[record.category]},"
            f" {STATES[record.state]}, {record.year}, {record.price} EUR"
        )

    def link_page(self, parameters: Parameters, number: int) -> str:
        pairs = [(key, value) for key, values in parameters.items() for value in values if key != "page"]
        return "/search?" + "&".join(f"{quote(k)}={quote(v)}" for k, v in [*pairs, ("page", str(number))])

    def select(self, _parameters: Parameters) -> Sequence[Record]:
        """Return the records that a query selects, in the order of the site: all, unless overridden."""
        return self.records

    def list_queries(self) -> list[Sequence[Record]]:
        """Return the results of all queries that an oracle may choose from: one, unless overridden."""
        return [self.records]


def first(parameters: Parameters, name: str) -> str:
    return parameters.get(name, [""])[0].strip()


GOODS = "art auto baby book camp car cook craft farm film food game garden home kids music office pet sport toy"
CATEGORIES = [f"{word} goods" for word in GOODS.split()]
STATES = [f"S{number:02d}" for number in range(50)]


def options(values: Sequence[str], any_label: str = "Any") -> str:
    listed = "".join(f"<option value={n}>{value}</option>" for n, value in enumerate(values))
    return (f"<option value=''>{any_label}</option>" if any_label else "") + listed


def shuffle(records: Sequence[Record]) -> list[Record]:
    """Return the fixed order in which a site ranks its records."""
    return sorted(records, key=lambda record: record.number * 7919 % 10_007)


class Catalog(FormSite):
    """Two lists of values, all results on pages of twenty; without a choice, everything."""

    name = "catalog"
    form = (
        f"<form action=/search><select name=cat>{options(CATEGORIES)}</select><select name=state>{options(STATES)}"
        "</select><select name=sort><option>date<option>price</select>"
        "<select name=per_page><option>10<option>20</select><button>Show</button></form>"
    )

    def select(self, parameters: Parameters) -> Sequence[Record]:
        category, state = first(parameters, "cat"), first(parameters, "state")
        return [r for r in self.records if category in ("", str(r.category)) and state in ("", str(r.state))]

    def list_queries(self) -> list[Sequence[Record]]:
        return [self.records]


class Directory(Catalog):
    """A value must be chosen; pages have links for other orders."""

    name = "directory"
    form = (
        f"<form action=/search><select name=cat required>{options(CATEGORIES, '')}</select>"
        f"<label>State <select name=state>{options(STATES)}</select></label><input type=submit value=List></form>"
    )

    def select(self, parameters: Parameters) -> Sequence[Record]:
        return super().select(parameters) if first(parameters, "cat") else []

    def list_queries(self) -> list[Sequence[Record]]:
        return [[r for r in self.records if r.category == n] for n in range(20)]

    def show_record(self, record: Record) -> str:
        return super().show_record(record) + "<a href='?cat=1&sort=price'>by price</a>"


class Capped(FormSite):
    """At most 100 results of a query can be seen: fields must be combined."""

    name = "capped"
    cap = 100
    form = (
        f"<form action=/search><select name=cat>{options(CATEGORIES)}</select><select name=state>{options(STATES)}"
        "</select>" + "".join(f"<label><input type=radio name=kind value={n}> type {n}</label>" for n in range(4))
        + "<button>Search</button></form>"
    )  # fmt: skip

    def select(self, parameters: Parameters) -> Sequence[Record]:
        chosen = [first(parameters, name) for name in ("cat", "state", "kind")]
        return [
            r
            for r in shuffle(self.records)
            if all(c in ("", str(v)) for c, v in zip(chosen, (r.category, r.state, r.kind), strict=True))
        ]

    def list_queries(self) -> list[Sequence[Record]]:
        groups: dict[tuple[int, ...], list[Record]] = {}
        for r in shuffle(self.records):
            for mask in range(8):
                values = (r.category, r.state, r.kind)
                key = tuple(v if mask >> n & 1 else -1 for n, v in enumerate(values))
                groups.setdefault(key, []).append(r)
        return [found[: self.cap] for found in groups.values()]


class WordSearch(FormSite):
    """A search box; 200 results of a query can be seen, nothing without a word."""

    name = "search box"
    cap = 200
    form = "<form action=/search role=search><input type=search name=q><button>Search</button></form>"

    def select(self, parameters: Parameters) -> Sequence[Record]:
        words = first(parameters, "q").lower().split()
        return [r for r in shuffle(self.records) if all(w in r.title.split() for w in words)] if words else []

    def list_queries(self) -> list[Sequence[Record]]:
        groups: dict[str, list[Record]] = {}
        for r in shuffle(self.records):
            for word in r.title.split():
                groups.setdefault(word, []).append(r)
        return [found[: self.cap] for found in groups.values()]


class DateArchive(FormSite):
    """From and to as dates; 100 results of a query can be seen."""

    name = "dates"
    cap = 100
    form = (
        "<form action=/search><label>From <input type=date name=date_from min=1950-01-01></label>"
        "<label>To <input type=date name=date_to max=2020-12-31></label><button>Find</button></form>"
    )

    def select(self, parameters: Parameters) -> Sequence[Record]:
        low, high = first(parameters, "date_from") or "0", first(parameters, "date_to") or "9"
        return [r for r in shuffle(self.records) if low <= f"{r.year}-{r.month:02d}-15" <= high]

    def list_queries(self) -> list[Sequence[Record]]:
        months: dict[int, list[Record]] = {}
        for r in self.records:
            months.setdefault(r.year * 12 + r.month, []).append(r)
        ordered = [months[key] for key in sorted(months)]
        joined, part = list[Sequence[Record]](), list[Record]()
        for found in ordered:  # neighboring months that together stay below the limit
            if len(part) + len(found) > self.cap:
                joined.append(part)
                part = []
            part = [*part, *found]
        return [*joined, part]


class TableForm(FormSite):
    """An old page: the form is broken by a table, records have no links, 50 results without further pages."""

    name = "table, no links"
    page_size = cap = 50
    form = (
        f"<table><form action=/search><tr><td>Branch<td><select name=br>{options(CATEGORIES, 'All')}</select>"
        f"<tr><td>Region<td><select name=rg>{options(STATES, 'All')}</select>"
        "<tr><td><input type=submit value=Find></form></table>"
    )

    def select(self, parameters: Parameters) -> Sequence[Record]:
        category, state = first(parameters, "br"), first(parameters, "rg")
        return [r for r in shuffle(self.records) if category in ("", str(r.category)) and state in ("", str(r.state))]

    def show_record(self, record: Record) -> str:
        return f"<li>{record.title}: no. {record.number}<br>{CATEGORIES[record.category]}<br>{STATES[record.state]}"

    def list_queries(self) -> list[Sequence[Record]]:
        groups: dict[tuple[int, int], list[Record]] = {}
        for r in shuffle(self.records):
            for key in ((-1, -1), (r.category, -1), (-1, r.state), (r.category, r.state)):
                groups.setdefault(key, []).append(r)
        return [found[: self.cap] for found in groups.values()]


class Facets(FormSite):
    """Check boxes; pages are part of the path; 500 results can be seen."""

    name = "check boxes, paths"
    cap, page_size = 500, 25
    entry = "/finder"
    head = "<title>Finder</title><a href=/finder>Home</a>"
    form = (
        "<form action=/finder/results id=finder>"
        + "".join(f"<label><input type=checkbox name=c value=c{n}>{c}</label>" for n, c in enumerate(CATEGORIES))
        + "<fieldset><legend>Year</legend>"
        + "".join(f"<input type=radio name=decade value={d}>{d}s" for d in range(1950, 2030, 10))
        + "</fieldset><button type=submit>Apply</button></form>"
    )

    def answer(
        self, target: str, path: str, parameters: Parameters, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if path == "/":
            return 200, headers, b"<a href=/finder>Finder</a>"
        number = path.rpartition("/page/")[2]
        if not path.startswith("/finder/results"):
            return 404, headers, b"not here"
        page = int(number) if "/page/" in path and number.isdecimal() else 1
        query = urlsplit(target).query
        body = self.show(target, self.select(parameters), page, lambda n: f"/finder/results/page/{n}?{query}")
        return 200, headers, body

    def select(self, parameters: Parameters) -> Sequence[Record]:
        chosen, decade = parameters.get("c", []), first(parameters, "decade")
        return [
            r
            for r in shuffle(self.records)
            if (not chosen or f"c{r.category}" in chosen) and decade in ("", str(r.year // 10 * 10))
        ]

    def list_queries(self) -> list[Sequence[Record]]:
        groups: dict[tuple[int, int], list[Record]] = {}
        for r in shuffle(self.records):
            for key in ((-1, -1), (r.category, -1), (-1, r.year // 10), (r.category, r.year // 10)):
                groups.setdefault(key, []).append(r)
        return [found[: self.cap] for found in groups.values()]


class GermanSearch(WordSearch):
    """German labels; words are alternatives; 100 results."""

    name = "German search box"
    cap, page_size = 100, 10
    entry = "/suche"
    head = "<html lang=de><title>Verzeichnis</title>"
    form = (
        "<form action=/search method=get><label for=sb>Stichwort</label><input id=sb type=text name=stichwort>"
        "<input type=hidden name=lang value=de><input type=submit value=Suchen></form>"
    )

    def answer(
        self, target: str, path: str, parameters: Parameters, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if path == "/":
            return 200, headers, b"<a href=/suche>Suche</a>"
        return super().answer(target, path, parameters, headers)

    def select(self, parameters: Parameters) -> Sequence[Record]:
        words = set(first(parameters, "stichwort").lower().split())
        return [r for r in shuffle(self.records) if words.intersection(r.title.split())]


class PriceRange(FormSite):
    """Numbers from and to; 60 results on one page."""

    name = "prices"
    cap = page_size = 60
    form = (
        "<form action=/search><input type=number name=min_price placeholder='Price from'>"
        "<input type=number name=max_price placeholder='to'>"
        "<select name=kind><option value=''>all<option>0<option>1<option>2<option>3</select><button>Go</button></form>"
    )

    def select(self, parameters: Parameters) -> Sequence[Record]:
        low, high, kind = (first(parameters, name) for name in ("min_price", "max_price", "kind"))
        return [
            r
            for r in shuffle(self.records)
            if int(low or 0) <= r.price <= int(high or 10**9) and kind in ("", str(r.kind))
        ]

    def list_queries(self) -> list[Sequence[Record]]:
        queries = list[Sequence[Record]]()
        for kind in range(4):
            prices: dict[int, list[Record]] = {}
            for r in shuffle(self.records):
                if r.kind == kind:
                    prices.setdefault(r.price, []).append(r)
            part = list[Record]()
            for price in sorted(prices):
                if len(part) + len(prices[price]) > self.cap:
                    queries.append(part[: self.cap])
                    part = []
                part = [*part, *prices[price]]
            queries.append(part[: self.cap])
        return queries


class Redirecting(WordSearch):
    """A query is redirected to an address of its own; an offset selects the page."""

    name = "redirects, offsets"
    cap = 300
    form = "<form action=/find><input name=term placeholder='Find records'><button>Find</button></form>"

    def answer(
        self, target: str, path: str, parameters: Parameters, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if path == "/find":
            return 302, {"Location": "/list/" + quote(first(parameters, "term") or "none")}, b""
        if not path.startswith("/list/"):
            return 404, headers, b"not here"
        found, offset = self.select({"q": [path[6:]]}), int(first(parameters, "offset") or 0)
        link = lambda n: f"{path}?offset={(n - 1) * self.page_size}"  # noqa: E731
        return 200, headers, self.show(target, found, offset // self.page_size + 1, link)


DEVELOPMENT = (Catalog, Directory, Capped, WordSearch, DateArchive)
HELD_OUT = (TableForm, Facets, GermanSearch, PriceRange, Redirecting)
