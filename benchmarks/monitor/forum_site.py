"""A forum, a portal in German, a blog, and product lists. Held out until control fetches were made, and then looked at."""

# ruff: noqa: E501  markup is easier to read unbroken
from random import Random

from benchmarks.monitor.changing_site import WORDS, ChangingSite

PAGES = 6  # of each kind
QUOTES = (
    "Simplicity is the soul of efficiency, said a wise engineer.",
    "Measure twice and cut once before you leave the workshop.",
    "A journey of a thousand miles begins with one small step.",
    "The early bird may catch the worm, but who likes worms?",
    "Every cloud has a silver lining if you look long enough.",
    "Practice makes perfect, and perfect makes few people happy.",
)
NAMES = ("anna", "bjorn", "carla", "dmitri", "emeka", "fatima", "george", "hana", "ivan", "julia", "kofi", "lars")
SPONSORS = tuple(f"{name.title()} & Sons: {word} supplies since 19{60 + n}" for n, (name, word) in enumerate(zip(NAMES, WORDS, strict=False)))  # fmt: skip
WEATHER = ("sonnig", "bewölkt", "Regen", "Nebel", "Schauer")


class ForumSite(ChangingSite):
    """Four kinds of pages with six pages each."""

    priced_pages = range(18, 24)

    def render_page(self, number: int) -> str:
        """Return the HTML of a page."""
        kind = (self._render_thread, self._render_notice, self._render_post, self._render_list)
        return kind[number // PAGES](number, self.noise)

    def _render_thread(self, number: int, dice: Random) -> str:
        posts = "".join(
            f"<div class=post><b>{NAMES[(number + k) % 12]}</b> <small>{dice.randrange(2, 50)} minutes ago</small>"
            f"<p>{sentence}</p><div class=signature>{dice.choice(QUOTES) if k == 1 else ''}</div></div>"
            for k, sentence in enumerate(self.texts[number])
        )
        online = ", ".join(dice.sample(NAMES, 4))
        similar = "".join(f"<li><a href=/page-{n}.html>Thread {n}</a></li>" for n in dice.sample(range(24), 5))
        return (
            f"<html lang=en><head><title>Thread {number}</title></head><body>{self.banner}"
            f"<div id=top><a href=/page-0.html>Board</a> <a href=/login>Log in</a></div><main><h1>Thread {number}</h1>"
            f"<p>{900 + dice.randrange(90)} views, {len(self.texts[number])} replies</p>{posts}"
            f"<h3>Similar threads</h3><ul>{similar}</ul></main>"
            f"<div class=online>Users browsing this thread: {online} and {dice.randrange(9)} guests</div>"
            f"<footer>All times are UTC. The time now is {dice.randrange(24):02d}:{dice.randrange(60):02d}.</footer></body></html>"
        )

    def _render_notice(self, number: int, dice: Random) -> str:
        text = "".join(f"<p>{sentence}</p>" for sentence in self.texts[number])
        teasers = list(range(6, 12))
        dice.shuffle(teasers)
        tiles = "".join(f"<a class=tile href=/page-{n}.html>Bürgerservice {n}</a>" for n in teasers[:4])
        return (
            f"<html lang=de><head><title>Stadt Hafenburg: Amt {number}</title></head><body>{self.banner}"
            f"<header><p>Heute ist Dienstag, der {1 + self.round}. November 2026</p>"
            f"<p>Wetter: {dice.choice(WEATHER)}, {dice.randrange(3, 16)} °C</p></header>"
            f"<nav><a href=/page-6.html>Rathaus</a> <a href=/page-7.html>Kultur</a></nav><div id=content>"
            f"<h1>Amt {number}</h1>{text}<p class=stand>Stand: {1 + self.round:02d}.11.2026, {dice.randrange(24):02d}:{dice.randrange(60):02d} Uhr</p>"
            f"<p>Noch {30 - self.round} Tage bis zum Weihnachtsmarkt</p></div><div class=tiles>{tiles}</div>"
            f"<footer><p>Besucher heute: {dice.randrange(100, 5000)}</p></footer></body></html>"
        )

    def _render_post(self, number: int, dice: Random) -> str:
        text = "".join(f"<p>{sentence}</p>" for sentence in self.texts[number])
        comments = "".join(
            f"<li>{dice.choice(NAMES)} on <a href=/page-{dice.randrange(12, 18)}.html>a post</a>, {dice.randrange(2, 23)} hours ago</li>"
            for _ in range(4)
        )
        tags = list(WORDS[:8])
        dice.shuffle(tags)
        return (
            f"<html lang=en><head><title>Post {number} - a blog</title></head><body>{self.banner}<article><h1>Post {number}</h1>"
            f"<p class=byline>By Anna, 12 May 2026. {dice.randrange(3, 9)} min read. {dice.randrange(40, 400)} shares</p>{text}"
            f"<div class=sponsor>{dice.choice(SPONSORS)}</div></article>"
            f"<div class=sidebar><h4>Recent comments</h4><ul>{comments}</ul><p>{' '.join(tags)}</p>"
            f"<blockquote>{dice.choice(QUOTES)}</blockquote></div>"
            f"<form><input type=hidden name=nonce value={dice.randrange(10**12):x}></form></body></html>"
        )

    def _render_list(self, number: int, dice: Random) -> str:
        rows = [(name, 10 + (number * 7 + k * 13) % 90) for k, name in enumerate(WORDS[:6])]
        items = "".join(
            f"<li><h3>{name.title()} set</h3><span class=price>{price}.00 EUR</span>"
            f"<small>{dice.randrange(2, 40)} sold in the last 24 hours</small></li>"
            for name, price in rows
        )
        promoted = dice.choice(SPONSORS)
        return (
            f"<html lang=en><head><title>Aisle {number}</title></head><body>{self.banner}<main><h1>Aisle {number}</h1>"
            f"<div class=lead><h2>Offer of this aisle</h2><span class=price>{self.prices[number]}.00 EUR</span>"
            f"<span>{'In stock' if self.stock[number] else 'Sold out'}</span>"
            f"<p>Get it by {('Tue', 'Wed', 'Thu', 'Fri')[self.round % 4]}, Nov {3 + self.round}</p></div>"
            f"<ul>{items}</ul><div class=promoted>Sponsored: {promoted}</div>"
            + "".join(f"<p>{sentence}</p>" for sentence in self.texts[number])
            + f"</main><footer><a href=/page-{dice.randrange(18, 24)}.html>Customers also viewed</a></footer></body></html>"
        )
