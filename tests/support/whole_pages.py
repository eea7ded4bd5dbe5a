"""Whole pages: a document inside the boilerplate of a site, in several kinds of markup."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

CLAUSES = (
    "This policy explains how the Harbour Company collects, uses and shares information when you use our services.",
    "We collect the details you give us when you open an account, such as your name, your address and how you pay.",
    "We keep records of each booking for seven years, because the tax office may ask to see them during that time.",
    "You may ask us for a copy of everything we hold about you, and we will send it within thirty days of asking.",
    "We do not sell what we know about you, and we ask every partner to delete what they no longer need for the work.",
    "If you close your account we erase your bookings, except for those that the law obliges us to keep for longer.",
    "Children under the age of sixteen may travel with us, but they cannot open an account without a parent's consent.",
    "A fee of 25 euros is due where a booking is moved less than two days before the boat leaves the harbour.",
    "We may change these terms; where a change matters we will write to you at least thirty days before it takes hold.",
    "Disputes are heard by the courts of the town in which the Harbour Company has its registered office.",
    "Baggage of up to twenty kilograms is carried free of charge; bicycles need a ticket of their own in summer.",
    "Our staff may turn away anybody who endangers others on board, and no fare is paid back in such a case.",
)
MORE = (
    "The words used here have the meaning that the law of the sea gives them, unless a clause says otherwise.",
    "Whoever books for others answers for what these others do, and passes on to them what we write.",
    "Nothing in this clause takes away a right that you have as a consumer and that cannot be given up.",
    "We answer every letter; where that takes longer than a month we say why, and when an answer may be expected.",
)
HEADINGS = ("What we collect", "How long we keep it", "Your rights", "Fees", "Changes")
LINKS = ("Home", "Timetable", "Fares", "Islands", "Groups", "News", "Jobs", "Contact")
LEGAL = ("Imprint", "Privacy", "Terms", "Cookies", "Accessibility", "Press", "Partners")


@dataclass(frozen=True)
class Page:
    """Parts of a page, top to bottom. `before` and `after` are inside the text's element, `beside` is a sibling."""

    text: tuple[str, ...] = CLAUSES
    head: str = ""
    top: str = ""
    before: str = ""
    within: str = ""
    after: str = ""
    beside: str = ""
    side: str = ""
    foot: str = ""
    end: str = ""

    def with_part(self, part: str, markup: str) -> "Page":
        """Return a page with another value of a part."""
        parts: dict[str, Any] = {part: markup}
        return replace(self, **parts)


def document(page: Page) -> str:
    """Return the text with headings and its inner parts."""
    parts = [f"<h1>Terms of carriage</h1>{page.before}"]
    for number, clause in enumerate(page.text):
        if number % 3 == 1:
            parts.append(f"<h2>{HEADINGS[number // 3 % len(HEADINGS)]}</h2>")
        parts.append(f"<p>{clause} {MORE[number % 4]}</p><p>Under {number + 1}: {MORE[(number + 1) % 4]}</p>")
        if number == len(page.text) // 2:
            parts.append(page.within)
    return "\n".join((*parts, page.after))


def listed(names: tuple[str, ...], item: str = "<li><a href='/{1}'>{0}</a></li>") -> str:
    """Return a list of links."""
    return "".join(item.format(name, name.lower()) for name in names)


def semantic(page: Page) -> str:
    """Return markup with landmarks, as in modern themes."""
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Terms of carriage</title>{page.head}
</head><body><header>{page.top}<a href="/">Harbour Company</a><nav><ul>{listed(LINKS)}</ul></nav></header>
<main><article>{document(page)}</article>{page.beside}</main>
<aside><h3>More</h3>{page.side}</aside>
<footer><ul>{listed(LEGAL)}</ul>{page.foot}<p>© Harbour Company</p></footer>{page.end}</body></html>"""


def article(page: Page) -> str:
    """Return markup without a main element, as in most weblogs."""
    return f"""<!doctype html><html><head><meta charset="utf-8"><title>Terms of carriage</title>{page.head}</head>
<body class="page"><div id="page"><header id="masthead">{page.top}<p>Harbour Company</p><nav><ul>{listed(LINKS)}</ul>
</nav></header><div id="content"><article class="post"><div class="entry-content">{document(page)}</div></article>
{page.beside}<aside id="secondary"><section class="widget"><h2>More</h2>{page.side}</section></aside></div>
<footer id="colophon"><ul>{listed(LEGAL)}</ul>{page.foot}</footer></div>{page.end}</body></html>"""


def named(page: Page) -> str:
    """Return divisions with meaningful class names."""
    return f"""<!doctype html><html><head><meta charset="utf-8"><title>Terms of carriage</title>{page.head}</head>
<body><div id="wrapper"><div class="site-header">{page.top}<div class="navbar"><ul>{listed(LINKS)}</ul></div></div>
<div class="row"><div class="col-8 body-copy">{document(page)}</div>{page.beside}
<div class="col-4 sidebar"><div class="box"><h3>More</h3>{page.side}</div></div></div>
<div class="site-footer"><ul>{listed(LEGAL)}</ul>{page.foot}<p>© Harbour Company</p></div></div>{page.end}
</body></html>"""


def soup(page: Page) -> str:
    """Return divisions with generated class names."""
    entry = "<div class='x1n2'><div class='x9f'><a class='x77' href='/{1}'><span>{0}</span></a></div></div>"
    return f"""<!doctype html><html><head><meta charset="utf-8"><title>Terms of carriage</title>{page.head}</head>
<body><div id="root"><div class="x1a"><div class="x1b">{page.top}</div>
<div class="x1c">{listed(LINKS, entry)}</div></div>
<div class="x2a"><div class="x2b"><div class="x2c">{document(page)}</div></div>{page.beside}
<div class="x3b"><div class="x3c">{page.side}</div></div></div>
<div class="x4a"><div class="x4b">{listed(LEGAL, entry)}</div><div class="x4c">{page.foot}</div></div></div>
<div class="x5">{page.end}</div></body></html>"""


def cells(page: Page) -> str:
    """Return a layout table, as in old pages."""
    entry = "<tr><td><font size='2'><a href='/{1}'>{0}</a></font></td></tr>"
    return f"""<html><head><meta charset="utf-8"><title>Terms of carriage</title>{page.head}</head>
<body bgcolor="#ffffff"><table width="100%">
<tr><td colspan="3">{page.top}</td></tr><tr><td colspan="3"><b>Harbour Company</b></td></tr>
<tr><td valign="top"><table>{listed(LINKS, entry)}</table></td><td>{document(page)}</td><td>{page.side}</td></tr>
<tr><td colspan="3">{page.beside}</td></tr>
<tr><td colspan="3"><center>{listed(LEGAL, "<a href='/{1}'>{0}</a> | ")}<br>{page.foot}</center></td></tr></table>
{page.end}</body></html>"""


Builder = Callable[[Page], str]
BUILDERS: tuple[Builder, ...] = (semantic, article, named, soup, cells)
