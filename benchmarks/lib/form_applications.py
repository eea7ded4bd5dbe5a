"""Form databases of 10,000 Debian packages, written with Flask and SQLite, to develop the planner on.

Their pages differ from those of `form_databases`: full-text search in order of relevance, lists that depend on each
other, answers as JSON, dates as text. `form_applications_held_out` has others, which no rule was chosen on.
"""

import json
import random
import re
import sqlite3
import subprocess
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, Self

from flask import Flask, redirect, request
from markupsafe import escape
from werkzeug.serving import WSGIRequestHandler, make_server

RECORDS = 10_000
TRIPWIRES = """<form action="/trip/login"><input name=user><input type=password name=secret><button>Go</button></form>
<form action="/trip/newsletter"><input type=email name=mail><button>Subscribe</button></form>
<form action="/trip/remove"><input type=hidden name=action value=delete><select name=id><option>1<option>2</select>
</form><a href="/trip/logout">Log out</a> <a href="/trip/5/delete">Delete</a>"""


class Package(NamedTuple):
    """A record: a Debian package."""

    number: int
    name: str
    section: str
    summary: str
    maintainer: str
    size: int  # kB
    day: int  # since 2000-01-01


@cache
def build_packages(seed: int = 7) -> tuple[Package, ...]:
    """Return packages in random order, from the lists of apt."""
    source = random.Random(seed)
    blocks = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout.split("\n\n")
    rows = [dict(re.findall(r"^([\w-]+): (.*)$", block, re.MULTILINE)) for block in blocks if block]
    return tuple(
        Package(
            number,
            row["Package"],
            row.get("Section", "misc").rpartition("/")[2],
            row.get("Description", ""),
            row.get("Maintainer", "").partition(" <")[0],
            int(row.get("Installed-Size", 0)),
            int(source.triangular(0, 8_400, 8_000)),
        )
        for number, row in enumerate(source.sample(rows, RECORDS))
    )


def group_records(keys: Iterable[tuple[Any, Package]], cap: int = 0) -> list[Sequence[Package]]:
    """Return the records of each key, at most `cap`."""
    groups: dict[Any, list[Package]] = {}
    for key, record in keys:
        groups.setdefault(key, []).append(record)
    return [found[:cap] if cap else found for found in groups.values()]


class QuietHandler(WSGIRequestHandler):
    def log(self, *_: object) -> None:
        pass


class FormApplication:
    """A web application with one form; subclasses define its pages."""

    name = ""
    page_size = 20
    cap = 0
    options: tuple[str, ...] = ()  # further flags of the crawl

    def __init__(self, records: Sequence[Package]) -> None:
        self.records = records
        self.shown: list[tuple[str, list[int]]] = []
        self.trips: list[str] = []
        self.app = Flask(self.name)
        self.app.add_url_rule("/trip/<path:_>", view_func=self.trip)
        self.app.add_url_rule("/about", "about", view_func=lambda: "<p>About this site")
        self.build()
        self.server = make_server("127.0.0.1", 0, self.app, threaded=True, request_handler=QuietHandler)
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.close()

    def build(self) -> None:
        """Add the pages of the site."""
        raise NotImplementedError

    def close(self) -> None:
        """Release what the site opened."""

    def list_queries(self) -> list[Sequence[Package]]:
        """Return the results of all queries that an oracle may choose from."""
        raise NotImplementedError

    def trip(self, _: str) -> str:
        self.trips.append(request.full_path)
        return "tripped"

    def show(self, part: Sequence[Package]) -> None:
        self.shown.append((request.full_path, [record.number for record in part]))

    def cut_page(self, found: Sequence[Package], page: int) -> Sequence[Package]:
        limited = found[: self.cap] if self.cap else found
        part = limited[(page - 1) * self.page_size : page * self.page_size]
        self.show(part)
        return part


def list_options(values: Iterable[str], chosen: str = "", first: str = "-- all --") -> str:
    listed = "".join(f"<option{' selected' if v == chosen else ''} value='{escape(v)}'>{escape(v)}" for v in values)
    return f"<option value=''>{first}</option>{listed}"


class PackageSearch(FormApplication):
    """Full-text search (AND, by relevance), with a list; facets in a side bar; 250 results, 25 a page."""

    name = "full text and list"
    page_size, cap = 25, 250

    def build(self) -> None:
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.lock = threading.Lock()
        self.db.execute("CREATE VIRTUAL TABLE found USING fts5(name, summary, section UNINDEXED)")
        rows = [(r.number + 1, r.name, r.summary, r.section) for r in self.records]
        self.db.executemany("INSERT INTO found (rowid, name, summary, section) VALUES (?, ?, ?, ?)", rows)
        self.sections = sorted({record.section for record in self.records})
        self.app.add_url_rule("/", view_func=self.show_home)
        self.app.add_url_rule("/packages/search", view_func=self.search)

    def close(self) -> None:
        self.db.close()

    def show_form(self, text: str = "", section: str = "") -> str:
        return (
            f"<header><a href=/>Packages</a> <a href=/about>About</a></header><form action=/packages/search "
            f"class='form-inline'><input name=keywords value='{escape(text)}' placeholder='Search packages'>"
            f"<select name=section>{list_options(self.sections, section)}</select><button>Search</button></form>"
        )

    def show_home(self) -> str:
        news = "".join(f"<li>New: {record.summary}" for record in self.records[::400])
        return f"<title>Packages</title>{self.show_form()}<ul>{news}</ul>{TRIPWIRES}"

    def select(self, text: str, section: str) -> list[Package]:
        words = re.findall(r"\w+", text)
        if not words:
            return [record for record in self.records if section and record.section == section]
        query = " ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM found WHERE found MATCH ? AND (? = '' OR section = ?) ORDER BY rank LIMIT 5000"
        with self.lock:
            rows = self.db.execute(sql, (query, section, section)).fetchall()
        return [self.records[row - 1] for (row,) in rows]

    def search(self) -> str:
        text, section = request.args.get("keywords", ""), request.args.get("section", "")
        page = max(1, request.args.get("page", 1, type=int))
        found = self.select(text, section)
        part = self.cut_page(found, page)
        link = f"/packages/search?keywords={escape(text)}&amp;section={section}"
        facets = "".join(
            f"<li><a href='/packages/search?keywords={escape(text)}&amp;section={name}'>{name}</a>"
            for name in sorted({record.section for record in found})
        )
        rows = "".join(
            f"<article><h3><a href='/package/{r.name}'>{r.name}</a></h3><p>{escape(r.summary)}</p>"
            f"<a href='/package/{r.name}#files'>Files</a> <a href='/maintainer/{escape(r.maintainer)}'>"
            f"{escape(r.maintainer)}</a></article>"
            for r in part
        )
        last = -(-min(self.cap, len(found)) // self.page_size)
        following = f"<a rel=next href='{link}&amp;page={page + 1}'>Next ›</a>" if page < last else ""
        pages = f"Page {page} of {last} {following}"
        count = f"<p>{len(found)} packages found</p>"
        return f"{self.show_form(text, section)}{count}<aside><ul>{facets}</ul></aside>{rows}<nav>{pages}</nav>"

    def list_queries(self) -> list[Sequence[Package]]:
        words = ((word, r) for r in self.records for word in set(re.findall(r"\w+", f"{r.name} {r.summary}".lower())))
        return group_records(words, self.cap) + group_records((r.section, r) for r in self.records)


class DependentLists(FormApplication):
    """Cities depend on the region that was chosen; both are needed; 50 results as rows, no further pages."""

    name = "dependent lists"
    page_size = cap = 50

    def build(self) -> None:
        source = random.Random(3)
        self.places = {r.number: (f"Region {r.number % 16}", int(source.paretovariate(0.5)) % 12) for r in self.records}
        self.app.add_url_rule("/", view_func=self.show_form)
        self.app.add_url_rule("/shops.php", view_func=self.show_results)
        self.trades = ("bakery", "butcher", "florist", "garage", "hotel", "pharmacy")

    def show_form(self, region: str = "") -> str:
        regions = [f"Region {number}" for number in range(16)]
        cities = [f"Town {number} in {region}" for number in range(12)] if region else []
        return (
            f"<title>Shops</title><form action=/shops.php name=f><label>Region <select name=region "
            f"onchange='this.form.submit()'>{list_options(regions, region)}</select></label><label>Town "
            f"<select name=town>{list_options(cities)}</select></label><label>Trade <select name=trade>"
            f"{list_options(self.trades)}</select></label><input type=submit value=Show></form>{TRIPWIRES}"
        )

    def show_results(self) -> str:
        region, town, trade = (request.args.get(name, "") for name in ("region", "town", "trade"))
        if not region or not town:
            self.show([])
            return f"{self.show_form(region)}<p>Please choose a region and a town."
        found = [
            r
            for r in self.records
            if f"Town {self.places[r.number][1]} in {self.places[r.number][0]}" == town
            and trade in ("", self.trades[r.size % 6])
        ]
        part = self.cut_page(found, 1)
        rows = "".join(f"<tr><td>{r.number}<td><a href='shop.php?id={r.number}'>{r.name}</a><td>{town}" for r in part)
        return f"{self.show_form(region)}<p>Showing {len(part)} of {len(found)}</p><table>{rows}</table>"

    def list_queries(self) -> list[Sequence[Package]]:
        places = [(self.places[r.number], r) for r in self.records]
        trades = [((place, r.size % 6), r) for place, r in places]
        return group_records(places, self.cap) + group_records(trades, self.cap)


class JsonSearch(FormApplication):
    """The action of the form answers with JSON; the next page is a member; 40 results a page, 400 at most."""

    name = "JSON answers"
    page_size, cap = 40, 400

    def build(self) -> None:
        self.app.add_url_rule("/", view_func=self.show_home)
        self.app.add_url_rule("/api/v1/items", view_func=self.search)
        self.sections = sorted({record.section for record in self.records})

    def show_home(self) -> str:
        boxes = "".join(f"<label><input type=checkbox name=sec value={s}> {s}</label>" for s in self.sections)
        sizes = "<select name=order><option>name<option>size</select>"
        return f"<title>Items</title><form id=search action=/api/v1/items>{boxes}{sizes}<button>Filter</button></form>"

    def search(self) -> tuple[str, dict[str, str]]:
        chosen, page = request.args.getlist("sec"), max(1, request.args.get("page", 1, type=int))
        found = [r for r in self.records if not chosen or r.section in chosen]
        part = self.cut_page(found, page)
        answer: dict[str, object] = {
            "count": len(found),
            "items": [{"id": r.number, "name": r.name, "text": r.summary, "section": r.section} for r in part],
        }
        if page * self.page_size < min(self.cap, len(found)):
            query = "".join(f"&sec={name}" for name in chosen)
            answer["next"] = f"/api/v1/items?page={page + 1}{query}"
        return json.dumps(answer), {"Content-Type": "application/json"}

    def list_queries(self) -> list[Sequence[Package]]:
        return [self.records[: self.cap], *group_records(((r.section, r) for r in self.records), self.cap)]


class TextDates(FormApplication):
    """German dates in text fields; a query is stored and redirected to; 15 results a page, 150 at most."""

    name = "dates as text"
    page_size, cap = 15, 150

    def build(self) -> None:
        self.found: dict[str, list[Package]] = {}
        self.app.add_url_rule("/", view_func=self.show_form)
        self.app.add_url_rule("/recherche", view_func=self.search)
        self.app.add_url_rule("/treffer/<key>", view_func=self.show_results)

    def show_form(self) -> str:
        return (
            "<title>Bekanntmachungen</title><form action=/recherche><label for=v>Veröffentlicht von</label>"
            "<input id=v name=datum_von placeholder='TT.MM.JJJJ' maxlength=10><label for=b>bis</label>"
            "<input id=b name=datum_bis placeholder='TT.MM.JJJJ' maxlength=10>"
            f"<input type=submit value='Suche starten'></form>{TRIPWIRES}"
        )

    def search(self) -> Any:
        days = []
        for name, default in (("datum_von", 0), ("datum_bis", 9_000)):
            match = re.fullmatch(r"(\d\d)\.(\d\d)\.(\d{4})", request.args.get(name, ""))
            days.append(int(match[3]) * 365 + int(match[2]) * 30 + int(match[1]) - 2000 * 365 if match else default)
        key = f"{days[0]:x}-{days[1]:x}"
        self.found[key] = [r for r in self.records if days[0] <= r.day <= days[1]]
        return redirect(f"/treffer/{key}")

    def show_results(self, key: str) -> str:
        page = max(1, request.args.get("seite", 1, type=int))
        found = self.found.get(key, [])
        part = self.cut_page(found, page)
        rows = "".join(f"<li><a href=/bekanntmachung/{r.number}>{escape(r.summary)}</a>" for r in part)
        last = -(-min(self.cap, len(found)) // self.page_size)
        pages = f"<a href='/treffer/{key}?seite={page + 1}'>weiter</a>" if page < last else ""
        return f"<title>Treffer</title><h1>{len(found)} Treffer</h1><ul>{rows}</ul>{pages}{TRIPWIRES}"

    def list_queries(self) -> list[Sequence[Package]]:
        joined, part = list[Sequence[Package]](), list[Package]()
        for found in group_records((r.day, r) for r in sorted(self.records, key=lambda r: r.day)):
            if len(part) + len(found) > self.cap:
                joined.append(part)
                part = []
            part = [*part, *found]
        return [*joined, part]


APPLICATIONS = (PackageSearch, DependentLists, JsonSearch, TextDates)
