"""Form databases that no rule of the planner was chosen on: other makes than `form_applications`.

Run them only to measure. Report the first run as "at first sight", also after a repair.
"""

import base64
import json
import random
import re
import sqlite3
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import django
from benchmarks.lib.form_applications import (
    TRIPWIRES,
    FormApplication,
    Package,
    group_records,
    list_options,
)
from flask import redirect, request
from markupsafe import escape

CITIES = [
    "Białystok",
    "Bydgoszcz",
    "Częstochowa",
    "Elbląg",
    "Gdańsk",
    "Gdynia",
    "Gliwice",
    "Katowice",
    "Kielce",
    "Kraków",
    "Lublin",
    "Łódź",
    "Olsztyn",
    "Opole",
    "Płock",
    "Poznań",
    "Radom",
    "Rzeszów",
    "Sopot",
    "Szczecin",
    "Tarnów",
    "Toruń",
    "Warszawa",
    "Wrocław",
]


def list_polish_words() -> list[str]:
    text = (Path(django.__file__).parent / "conf/locale/pl/LC_MESSAGES/django.po").read_text()
    words = [
        word for line in re.findall(r'^msgstr.*"(.*)"$', text, re.MULTILINE) for word in re.findall(r"\w{4,}", line)
    ]
    return list(dict.fromkeys(word.lower() for word in words))


class CompanyRegister(FormApplication):
    """Polish; the start of any word of the name, exact town from suggestions; 20 a page, 300 at most."""

    name = "Polish register"
    page_size, cap = 20, 300

    def build(self) -> None:
        source, words = random.Random(11), list_polish_words()
        weights = [1 / (n + 8) for n in range(len(words))]
        self.titles = [" ".join(source.choices(words, weights, k=3)).title() for _ in self.records]
        self.towns = [source.choices(CITIES, [1 / (n + 1) for n in range(len(CITIES))])[0] for _ in self.records]
        self.app.add_url_rule("/", view_func=self.show_home)
        self.app.add_url_rule("/rejestr/", view_func=self.search)

    def show_form(self) -> str:
        towns = "".join(f"<option value='{city}'>" for city in CITIES)
        return (
            "<form action=/rejestr/ method=GET><p><label for=id_nazwa>Nazwa firmy:</label> <input type=text name=nazwa"
            " id=id_nazwa></p><p><label for=id_miasto>Miasto:</label> <input name=miasto id=id_miasto list=miasta>"
            f"</p><datalist id=miasta>{towns}</datalist><button type=submit>Szukaj</button></form>"
        )

    def show_home(self) -> str:
        recent = "".join(f"<li>{title}" for title in self.titles[:40])
        news = f"<h2>Nowe firmy</h2><ul>{recent}</ul>"
        return f"<html lang=pl><title>Rejestr firm</title>{news}{self.show_form()}{TRIPWIRES}"

    def search(self) -> str:
        name, town = request.args.get("nazwa", "").strip().lower(), request.args.get("miasto", "").strip()
        page = max(1, request.args.get("strona", 1, type=int))
        found = [
            r
            for r in self.records
            if (name or town)
            and town in ("", self.towns[r.number])
            and any(word.startswith(name) for word in self.titles[r.number].lower().split())
        ]
        part = self.cut_page(found, page)
        rows = "".join(
            f"<div class=firma><a href='/firma/{r.number}/'>{self.titles[r.number]}</a> <span>{self.towns[r.number]}"
            f"</span> <span>NIP {5_000_000 + r.number}</span></div>"
            for r in part
        )
        last = -(-min(self.cap, len(found)) // self.page_size)
        query = f"nazwa={escape(name)}&amp;miasto={escape(town)}"
        numbers = [n for n in range(page - 2, page + 3) if 1 <= n <= last]
        pages = "".join(
            f"<li class=active><span>{n}</span>" if n == page else f"<li><a href='?{query}&amp;strona={n}'>{n}</a>"
            for n in numbers
        )
        following = f"<li><a href='?{query}&amp;strona={page + 1}'>Następna »</a>" if page < last else ""
        count = f"Znaleziono {len(found)} firm" if found else "Brak wyników"
        return f"<html lang=pl><title>Rejestr</title>{self.show_form()}<p>{count}</p>{rows}<ul>{pages}{following}</ul>"

    def list_queries(self) -> list[Sequence[Package]]:
        words = [(word, r) for r in self.records for word in set(self.titles[r.number].lower().split())]
        towns = [(self.towns[r.number], r) for r in self.records]
        both = [((word, self.towns[r.number]), r) for word, r in words]
        return group_records([*words, *towns, *both], self.cap)


class UsedCars(FormApplication):
    """Bounds of a price are lists; a hidden value is new in each page; "more" has an opaque cursor; 120 at most."""

    name = "lists of bounds, cursor"
    page_size, cap = 30, 120
    steps = (0, 500, 1000, 2000, 3000, 5000, 7500, 10000, 20000, 50000, 100000)

    def build(self) -> None:
        source = random.Random(12)
        makes = [
            f"{m}"
            for m in [
                "Alda",
                "Brio",
                "Cetus",
                "Dorel",
                "Enzi",
                "Fulma",
                "Gorda",
                "Hilex",
                "Ivaro",
                "Jolt",
                "Kenda",
                "Lumo",
                "Mirat",
                "Nexo",
            ]
        ]
        self.makes = makes
        weights = [1 / (n + 1) for n in range(len(makes))]
        self.cars = {
            r.number: (
                source.choices(makes, weights)[0],
                min(99_000, int(source.lognormvariate(8, 1))),
                source.randrange(3),
            )
            for r in self.records
        }
        self.source = source
        self.app.add_url_rule("/", view_func=self.show_form)
        self.app.add_url_rule("/cars", view_func=self.search)

    def show_form(self) -> str:
        prices = [str(step) for step in self.steps]
        fuels = "".join(f"<input type=checkbox name=fuel value={n} id=f{n}><label for=f{n}>{fuel}</label>"
                        for n, fuel in enumerate(("petrol", "diesel", "electric")))  # fmt: skip
        return (
            f"<title>Cars</title><form action=/cars><input type=hidden name=sid value={self.source.getrandbits(40):x}>"
            f"<select name=make>{list_options(self.makes, first='All makes')}</select><select name=price_from>"
            f"{list_options(prices, first='min')}</select><select name=price_to>{list_options(prices, first='max')}"
            f"</select>{fuels}<select name=sort><option value=new>Newest<option value=price>Price</select>"
            f"<button>Show cars</button></form>{TRIPWIRES}"
        )

    def search(self) -> str:
        args = request.args
        low, high = int(args.get("price_from") or 0), int(args.get("price_to") or 10**9)
        found = [
            r
            for r in sorted(self.records, key=lambda r: -r.day)
            if args.get("make", "") in ("", self.cars[r.number][0])
            and low <= self.cars[r.number][1] < high
            and (not args.getlist("fuel") or str(self.cars[r.number][2]) in args.getlist("fuel"))
        ]
        cursor = args.get("cursor", "")
        page = int(base64.urlsafe_b64decode(cursor)) if cursor else 1
        part = self.cut_page(found, page)
        rows = "".join(
            f"<tr><td><a href=/car/{r.number}>{self.cars[r.number][0]} {r.name}</a><td>{self.cars[r.number][1]}"
            for r in part
        )
        more = ""
        if page * self.page_size < min(self.cap, len(found)):
            pairs = "".join(f"{name}={escape(v)}&amp;" for name in args if name != "cursor" for v in args.getlist(name))
            more = (
                f"<a class=more href='/cars?{pairs}cursor={base64.urlsafe_b64encode(str(page + 1).encode()).decode()}'>"
            )
            more += "More cars</a>"
        return f"{self.show_form()}<table>{rows}</table>{more}<footer><a href=/about>About</a></footer>"

    def list_queries(self) -> list[Sequence[Package]]:
        ordered = sorted(self.records, key=lambda r: -r.day)
        keys = list[tuple[Any, Package]]()
        for r in ordered:
            make, price, fuel = self.cars[r.number]
            band = next(low for low, high in pairwise((*self.steps, 10**9)) if low <= price < high)
            keys += [((make, a, b), r) for a in (-1, band) for b in (-1, fuel)] + [
                ((a, b), r) for a in (-1, band) for b in (-1, fuel)
            ]
        return group_records(keys, self.cap)


class Museum(FormApplication):
    """Four text boxes and years; a single hit is redirected to; 50 a page, 200 at most; no number of results."""

    name = "advanced search"
    page_size, cap = 50, 200

    def build(self) -> None:
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.lock = threading.Lock()
        self.db.execute("CREATE VIRTUAL TABLE found USING fts5(title, artist, place)")
        self.db.executemany(
            "INSERT INTO found (rowid, title, artist, place) VALUES (?, ?, ?, ?)",
            [(r.number + 1, r.summary, r.maintainer, r.section) for r in self.records],
        )
        self.years = {r.number: 1500 + (r.size * 7 + r.day) % 480 for r in self.records}
        self.app.add_url_rule(
            "/", view_func=lambda: "<title>Museum</title><a href=/collection>Collection</a>" + TRIPWIRES
        )
        self.app.add_url_rule("/collection", view_func=self.show_form)
        self.app.add_url_rule("/collection/results", view_func=self.search)
        self.app.add_url_rule("/object/<number>", view_func=self.show_object)

    def close(self) -> None:
        self.db.close()

    def show_form(self) -> str:
        works = "".join(f"<p>{escape(r.summary)}, by {escape(r.maintainer)}</p>" for r in self.records[:30])
        boxes = "".join(f"<label>{n.title()} <input name={n}></label>" for n in ("title", "artist", "place", "number"))
        return (
            f"<h1>Search the collection</h1><form action=/collection/results class=advanced-search>{boxes}<label>Made "
            "between <input name=year_from size=4></label><label>and <input name=year_to size=4></label>"
            f"<button>Search</button></form><h2>Highlights</h2>{works}"
        )

    def show_object(self, number: str) -> str:
        record = self.records[int(number)]
        if request.args.get("q"):
            self.show([record])
        return f"<title>{escape(record.summary)}</title><h1>{escape(record.summary)}</h1><p>{escape(record.maintainer)}"

    def search(self) -> Any:
        args = request.args
        terms = [f'{n} : "{w}"' for n in ("title", "artist", "place") for w in re.findall(r"\w+", args.get(n, ""))]
        low, high = (
            int(args[n]) if args.get(n, "").isdecimal() else d for n, d in (("year_from", 0), ("year_to", 9999))
        )
        found = list[Package]()
        if args.get("number"):
            found = [r for r in self.records if str(r.number) == args["number"]]
        elif terms:
            with self.lock:
                rows = self.db.execute(
                    "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT 5000", (" AND ".join(terms),)
                ).fetchall()
            found = [self.records[row - 1] for (row,) in rows]
        elif low > 0 or high < 9999:
            found = list(self.records)
        found = [r for r in found if low <= self.years[r.number] <= high]
        if len(found) == 1:
            return redirect(f"/object/{found[0].number}?q=1")
        page = max(1, args.get("p", 1, type=int))
        part = self.cut_page(found, page)
        cards = "".join(
            f"<div class=card><a href=/object/{r.number}><img src=/thumb/{r.number}.jpg alt=''></a>"
            f"<a href=/object/{r.number}>{escape(r.summary)}</a><p>{escape(r.maintainer)}, {self.years[r.number]}"
            "</p></div>"
            for r in part
        )
        query = "&amp;".join(f"{n}={escape(v)}" for n, v in args.items() if n != "p")
        last = -(-min(self.cap, len(found)) // self.page_size)
        pages = (
            f"<a href='/collection/results?{query}&amp;p={page + 1}' aria-label='Next page'>→</a>"
            if page < last
            else ""
        )
        return f"<title>Results</title><a href=/collection>New search</a>{cards or 'No objects.'}<nav>{pages}</nav>"

    def list_queries(self) -> list[Sequence[Package]]:
        words = [(("t", w), r) for r in self.records for w in set(re.findall(r"\w+", r.summary.lower()))]
        words += [(("a", w), r) for r in self.records for w in set(re.findall(r"\w+", r.maintainer.lower()))]
        years = [((self.years[r.number],), r) for r in self.records]
        return group_records([*words, *years], self.cap)


class ScriptedSearch(FormApplication):
    """A script asks for JSON and writes the rows; "Show more" asks for the next 25; 100 at most. Needs a browser."""

    name = "rows by script"
    page_size, cap = 25, 100
    options = ("--render", "auto")

    def build(self) -> None:
        self.sections = sorted({record.section for record in self.records})
        self.app.add_url_rule("/", view_func=self.show_page)
        self.app.add_url_rule("/find", view_func=self.show_page)
        self.app.add_url_rule("/data.json", view_func=self.search)

    def show_page(self) -> str:
        sizes = "".join(f"<label><input type=radio name=size value={n}>{n}</label>" for n in "SML")
        return (
            f"<title>Finder</title><form action=/find><select name=type>{list_options(self.sections)}</select>{sizes}"
            f"<button>Find</button></form><main><div id=rows></div></main>{TRIPWIRES}<script>"
            "let page=1;async function load(){const q=new URLSearchParams(location.search);"
            "if(!location.search)return;q.set('page',page++);"
            "const d=await(await fetch('/data.json?'+q)).json();"
            "document.getElementById('rows').insertAdjacentHTML('beforeend',d.rows.map(r=>"
            "`<p><a href=/item/${r.id}>${r.name}</a> ${r.text}</p>`).join(''));"
            "if(d.more&&!document.getElementById('m'))document.querySelector('main').insertAdjacentHTML('beforeend',"
            "'<button id=m onclick=load()>Show more</button>');if(!d.more)document.getElementById('m')?.remove()}"
            "load()</script>"
        )

    def search(self) -> tuple[str, dict[str, str]]:
        kind, size = request.args.get("type", ""), request.args.get("size", "")
        page = max(1, request.args.get("page", 1, type=int))
        found = [
            r for r in self.records if kind in ("", r.section) and size in ("", "SML"[(r.size > 90) + (r.size > 600)])
        ]
        part = self.cut_page(found, page)
        rows = [{"id": r.number, "name": r.name, "text": r.summary} for r in part]
        more = page * self.page_size < min(self.cap, len(found))
        return json.dumps({"rows": rows, "more": more}), {"Content-Type": "application/json"}

    def list_queries(self) -> list[Sequence[Package]]:
        sizes = {r.number: (r.size > 90) + (r.size > 600) for r in self.records}
        keys = [((a, b), r) for r in self.records for a in ("", r.section) for b in (-1, sizes[r.number])]
        return group_records(keys, self.cap)


class PostedSearch(FormApplication):
    """A search by POST with a recipe; further pages by GET with a session; 20 a page, 200 at most."""

    name = "POST by recipe"
    page_size, cap = 20, 200

    def build(self) -> None:
        self.sections = sorted({record.section for record in self.records})
        self.sessions: list[list[Package]] = []
        self.app.add_url_rule("/", view_func=lambda: "<title>Stock</title><p>Use the search." + TRIPWIRES)
        self.app.add_url_rule("/stock/query", view_func=self.search, methods=["POST"])
        self.app.add_url_rule("/stock/list", view_func=self.show_page)

    def write_recipe(self, folder: Path) -> str:
        path = folder / "recipes.toml"
        path.write_text(
            f"[[form]]\nurl = '{self.root}/stock/query'\nmethod = 'post'\n"
            f"fields = {{ section = {json.dumps(self.sections)}, size = ['S', 'M', 'L'] }}\n"
        )
        return str(path)

    def search(self) -> str:
        kind, size = request.form.get("section", ""), request.form.get("size", "")
        found = [
            r for r in self.records if kind in ("", r.section) and size in ("", "SML"[(r.size > 90) + (r.size > 600)])
        ]
        self.sessions.append(found)
        return self.show_session(len(self.sessions) - 1, 1)

    def show_page(self) -> str:
        return self.show_session(request.args.get("sid", 0, type=int), request.args.get("from", 1, type=int))

    def show_session(self, number: int, page: int) -> str:
        found = self.sessions[number]
        part = self.cut_page(found, page)
        rows = "".join(f"<li><a href=/item/{r.number}>{r.name}</a>: {escape(r.summary)}" for r in part)
        more = page * self.page_size < min(self.cap, len(found))
        pages = f"<a href='/stock/list?sid={number}&amp;from={page + 1}'>next page</a>" if more else ""
        return f"<title>Stock</title><p>{len(found)} items<ol>{rows}</ol>{pages}"

    def list_queries(self) -> list[Sequence[Package]]:
        sizes = {r.number: (r.size > 90) + (r.size > 600) for r in self.records}
        return group_records((((r.section, sizes[r.number]), r) for r in self.records), self.cap)


HELD_OUT_APPLICATIONS = (CompanyRegister, UsedCars, Museum, ScriptedSearch, PostedSearch)
