"""Pages of a real theme (Read the Docs, as MkDocs builds it), with what scripts and servers add to such sites.

Written before it was measured; it was opened once, at the end, and used for nothing.
"""

import re
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.monitor.changing_site import ChangingSite

TIPS = (
    "Press s to search the documentation.", "You can fold the navigation with a click.", "Dark mode is in the menu.",
    "Every page can be printed.", "Tables can be sorted by each column.", "Links to sections are at their headings.",
)  # fmt: skip
SPONSORS = (
    "Northwind Hosting",
    "Blue Heron Labs",
    "Cedar and Stone",
    "Quick Fox Analytics",
    "Paper Lantern Studio",
    "Ninth Harbor",
)
AUTHORS = ("ada", "brian", "chen", "dolores", "edsger", "frances", "grace", "hedy", "isaac")
MARK = re.compile(r"MARK(\w+)MARK")
CONFIG = "theme: readthedocs\nplugins: []\nsite_name: Handbook\n"


@cache
def build_shell() -> str:
    """Build a page of the theme, with marks for what differs."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "mkdocs.yml").write_text(CONFIG)
        for number in range(24):
            (root / "docs" / f"page-{number}.md").write_text(f"# Chapter {number}\n\nMARKbodyMARK\n")
        (root / "docs" / "index.md").write_text("# MARKtitleMARK\n\nMARKbodyMARK\n")
        build(load_config(str(root / "mkdocs.yml"), site_dir=str(root / "site"), use_directory_urls=False))
        return (root / "site" / "index.html").read_text()


class ThemeSite(ChangingSite):
    """Chapters of a handbook, some with a plan and its price."""

    def render_page(self, number: int) -> str:
        """Return the HTML of a page."""
        dice = self.noise
        values = {"title": f"Chapter {number}", "body": f"</p>{self._render_body(number, dice)}<p>"}
        page = MARK.sub(lambda found: values[found[1]], build_shell()).removeprefix("<!doctype html>")
        extra = (
            f'{self.banner}<div class="md-sponsor"><p>Sponsored by {dice.choice(SPONSORS)}</p></div>'
            f'<div class="md-facts"><p>{dice.randrange(900, 999)} stars</p><p>{dice.randrange(40, 60)} forks</p></div>'
        )
        page = page.replace('<div class="rst-content">', f'{extra}<div class="rst-content">', 1)
        script = f'<script nonce="{dice.randrange(10**12):x}">window.__state={{"seed":{dice.random()}}}</script>'
        return page.replace(
            "</body>",
            f"{script}<p>Rendered by node-{dice.randrange(9)} as build {dice.randrange(16**7):07x}</p></body>",
        )

    def _render_body(self, number: int, dice: Random) -> str:
        text = [f"<p>{sentence}</p>" for sentence in self.texts[number]]
        if number in self.priced_pages:
            stock = "In stock" if self.stock[number] else "Sold out"
            text.insert(
                0,
                f"<table><tr><td>Plan {number}</td><td>{self.prices[number]}.00 EUR</td><td>{stock}</td></tr></table>",
            )
        text.insert(
            5,
            f'<div class="admonition tip"><p>Did you know?</p><p>{dice.choice(TIPS)}</p></div>',
        )
        people = ", ".join(dice.sample(AUTHORS, 4))
        ratio = dice.randrange(70, 99)
        further = "".join(f"<li><a href=/page-{n}.html>Chapter {n}</a></li>" for n in dice.sample(range(self.count), 3))
        return (
            f"{''.join(text)}<h2>Read next</h2><ul>{further}</ul><p>{ratio} % of readers found this helpful.</p>"
            f"<p>Contributors: {people} and {dice.randrange(3, 30)} more</p>"
        )
