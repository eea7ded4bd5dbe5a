"""A shop with random A/B variants, chosen anew for each request: layouts, wordings, and order of the parts.

Written together with the control fetches: its figures were looked at while they were made.
"""

# ruff: noqa: E501  markup is easier to read unbroken
from random import Random

from benchmarks.monitor.changing_site import WORDS, ChangingSite

PAGES = 12  # of each kind
CALLS = ("Add to basket", "Buy it now")
INTROS = (
    "Our experts have tested this product for you during three long weeks.",
    "Loved by thousands of customers in more than forty countries of the world.",
)
REVIEWERS = ("Maria", "Tom", "Aiko", "Pierre", "Olga", "Samir", "Greta", "Luca")
OPINIONS = (
    "Does what it should, and arrived on time.", "Better than the one I had before.", "The color differs a little from the picture.",
    "My children love it.", "I would buy it again.", "Good value, but the manual is hard to read.", "Sturdy and simple.",
)  # fmt: skip
PROMOTIONS = (
    "Free delivery this week",
    "Join the club and collect points",
    "Gift cards for every occasion",
    "Rent instead of buying",
    "Repair service in all branches",
    "New: same-day delivery",
)


class VariantSite(ChangingSite):
    """Products and guides."""

    priced_pages = range(PAGES)

    def render_page(self, number: int) -> str:
        """Return the HTML of a page in one of its variants."""
        return (self._render_product if number < PAGES else self._render_guide)(number, self.noise)

    def _render_frame(self, title: str, content: str, dice: Random) -> str:
        promotion = f'<div class="promo-bar">{dice.choice(PROMOTIONS)}</div>'
        basket = f"<a href=/page-0.html class=basket>Basket ({dice.randrange(4)})</a>"
        return (
            f'<html lang=en><head><title>{title}</title><script>var rid="{dice.randrange(10**9):x}"</script></head>'
            f'<body class="exp-{dice.randrange(2)} v{dice.randrange(100)}">{self.banner}<header>{promotion}<nav><a href=/page-0.html>Products</a>'
            f" <a href=/page-12.html>Guides</a></nav>{basket}</header>{content}<footer><p>{dice.choice(PROMOTIONS)}.</p>"
            f"<p>Server {dice.choice('abcdef')}{dice.randrange(20)}</p></footer></body></html>"
        )

    def _render_product(self, number: int, dice: Random) -> str:
        sentences = self.texts[number]
        offer = (
            f"<p class=amount>{self.prices[number]}.00 EUR</p><p>{'In stock' if self.stock[number] else 'Sold out'}</p>"
            f"<button>{dice.choice(CALLS)}</button>"
        )
        facts = "".join(f"<li>{sentence}</li>" for sentence in sentences[:4])
        story = "".join(f"<p>{sentence}</p>" for sentence in sentences[4:])
        reviews = "".join(
            f"<div class=review><strong>{name}</strong> <p>{dice.choice(OPINIONS)}</p></div>"
            for name in dice.sample(REVIEWERS, 3)
        )
        intro = f"<p>{dice.choice(INTROS)}</p>"
        also = "".join(
            f"<a href=/page-{n}.html><img src=/i/{n}.jpg alt='Product {n}'> {WORDS[n]} set</a>"
            for n in dice.sample(range(PAGES), 3)
        )
        if dice.random() < 0.5:
            body = f"<main><h1>Product {number}</h1>{intro}{offer}<ul>{facts}</ul>{story}</main>"
        else:
            body = f"<main><div class=left><h1>Product {number}</h1><ul>{facts}</ul></div><div class=right>{offer}{intro}{story}</div></main>"
        return self._render_frame(
            f"Product {number}",
            f"{body}<section><h2>What buyers say</h2>{reviews}</section><aside>{also}</aside>",
            dice,
        )

    def _render_guide(self, number: int, dice: Random) -> str:
        paragraphs = [f"<p>{sentence}</p>" for sentence in self.texts[number]]
        paragraphs.insert(4, f"<p>{dice.choice(('Sign up for our letter.', 'Never miss a guide: sign up today.'))}</p>")
        if dice.random() < 0.5:
            paragraphs.insert(8, f"<figure><figcaption>{dice.choice(PROMOTIONS)}</figcaption></figure>")
        head = dice.choice((f"Guide {number}", f"Guide {number}: all you need to know"))
        return self._render_frame(f"Guide {number}", f"<article><h1>{head}</h1>{''.join(paragraphs)}</article>", dice)
