"""Boilerplate inside the main content without markup, and text that only looks like it."""

from html import escape

from benchmarks.changes.planted_noise import Pair, Plant, call, links, text_of
from turbohtml import Element

from sanderling.html.parser import parse_html


def teasers(heading: str, *names: str) -> str:
    """Tell of other pages, with pictures."""
    items = "".join(
        f"<article><a href='/{name[:3]}'><img src='/{name[:3]}.jpg'></a><h3><a href='/{name[:3]}'>{name}</a></h3>"
        f"<p>{name}: what you should know about it before you leave.</p></article>"
        for name in names
    )
    return f"<section><h2>{heading}</h2>{items}</section>"


def newsletter(heading: str, words: str, button: str) -> str:
    """Ask for an address to send letters to."""
    return f"<div><h3>{heading}</h3><p>{words}</p><form><input type='email'><button>{button}</button></form></div>"


def votes(count: int, whole: int) -> str:
    return (
        "<div><div><span>Was this article helpful?</span><div><button>Yes</button><button>No</button></div></div>"
        f"<small>{count} out of {whole} found this helpful</small></div>"
    )


SHARERS = {
    "Facebook": "https://www.facebook.com/sharer/sharer.php?u=x",
    "X": "https://twitter.com/intent/tweet?url=x",
    "LinkedIn": "https://www.linkedin.com/shareArticle?url=x",
    "WhatsApp": "https://wa.me/?text=x",
}


def sharing(*names: str, title: str = "", name: str = "") -> str:
    """Offer to share a page."""
    links = "".join(f"<li><a href='{SHARERS[one.split()[0]]}'>{one}</a></li>" for one in names)
    return f"<div class='{name}'>{title}<ul>{links}</ul></div>"


def crumbs(*names: str) -> str:
    return "<div>" + " › ".join([*(f"<a href='/{name}'>{name}</a>" for name in names), "<span>Terms</span>"]) + "</div>"


INSIDE = {
    "related list": Plant(
        "inside",
        f"<div><h3>Related articles</h3><ul>{links('Fares', 'Dogs', 'Fog', 'Jobs')}</ul></div>",
        f"<div><h3>Related articles</h3><ul>{links('Refunds', 'Dogs', 'Ice', 'Jobs')}</ul></div>",
    ),
    "related teasers": Plant(
        "inside",
        teasers("You may also like", "A new boat", "Seals on the pier"),
        teasers("You may also like", "A new boat", "Fog signals"),
    ),
    "more from": Plant("inside", "", teasers("More from the harbour", "A new boat", "Seals on the pier")),
    "related in German": Plant(
        "inside",
        f"<section><h2>Verwandte Artikel</h2>{links('Preise', 'Hunde', tag='p')}</section>",
        f"<section><h2>Verwandte Artikel</h2>{links('Preise', 'Nebel', tag='p')}</section>",
    ),
    "related in French, no heading": Plant(
        "inside",
        f"<div><p><strong>À lire aussi</strong></p><ul>{links('Tarifs', 'Chiens', 'Brume')}</ul></div>",
        f"<div><p><strong>À lire aussi</strong></p><ul>{links('Tarifs', 'Phares', 'Brume')}</ul></div>",
    ),
    "related by its name": Plant(
        "inside",
        f"<div class='related-posts'><p>Onwards</p><ul>{links('Fares', 'Dogs', 'Fog')}</ul></div>",
        f"<div class='related-posts'><p>Onwards</p><ul>{links('Fares', 'Seals', 'Fog')}</ul></div>",
    ),
    "recently viewed": Plant(
        "inside",
        "<div><div></div></div>",
        f"<div><div><h3>Recently viewed articles</h3><ul>{links('Fares', 'Dogs')}</ul></div></div>",
    ),
    "share links": Plant("inside", sharing("Facebook", "X"), sharing("Facebook", "X", "LinkedIn", title="Share:")),
    "share buttons": Plant(
        "inside", "", "<div><button>Share</button><button>Copy link</button><button>Print</button></div>"
    ),
    "shares counted": Plant(
        "over",
        sharing("Facebook 12", "X 3", name="share-buttons", title="<span>15 shares</span>"),
        sharing("Facebook 14", "X 3", name="share-buttons", title="<span>17 shares</span>"),
    ),
    "share in German": Plant(
        "over", "", "<div><a href='#'>Teilen</a> <a href='#'>Drucken</a> <a href='mailto:?body=x'>E-Mail</a></div>"
    ),
    "newsletter inside": Plant(
        "inside",
        newsletter("Stay in touch", "Be the first to hear.", "Subscribe"),
        newsletter("Our newsletter", "News of the harbour in your inbox every week.", "Sign up"),
    ),
    "newsletter in French": Plant(
        "inside", "", newsletter("Restez informé", "Recevez nos nouvelles chaque semaine.", "S'abonner")
    ),
    "call inside": Plant(
        "inside",
        call("Ready to go?", "Create your free account today.", "Get started"),
        call("See for yourself", "Talk to us about a ship of your own.", "Book a demo"),
    ),
    "votes": Plant("inside", votes(12, 34), votes(13, 36)),
    "question": Plant(
        "inside", "", "<div><p>Did this answer your question?</p><button>Yes</button><button>No</button></div>"
    ),
    "question in Spanish": Plant(
        "inside", "", "<div><span>¿Te ha resultado útil?</span> <a href='#'>Sí</a> <a href='#'>No</a></div>"
    ),
    "breadcrumbs": Plant("over", crumbs("Home", "Help"), crumbs("Home", "Support", "Legal")),
    "breadcrumbs by their name": Plant(
        "over",
        f"<ol class='breadcrumbs'>{links('Start', 'Rules')}<li>Terms</li></ol>",
        f"<ol class='breadcrumbs'>{links('Start', 'Law')}<li>Terms</li></ol>",
    ),
    "back to top": Plant("inside", "", "<p><a href='#top'>Back to top</a></p>"),
    "next and previous": Plant(
        "inside",
        "<div><a href='/a'>Previous: Fares</a> <a href='/b'>Next: Dogs</a></div>",
        "<div><a href='/a'>Previous: Fares</a> <a href='/c'>Next: Fog</a></div>",
    ),
}


def card(name: str, words: str) -> str:
    """Offer something that is sold."""
    return f"<div><h3>{name}</h3><p>{words}</p><a href='/{name.lower()}'>Get started</a></div>"


def form(words: str) -> str:
    return (
        f"<div><h3>Object to processing</h3><p>{words}</p><form><input type='email'><button>Send</button></form></div>"
    )


LOOKALIKES = {
    "related as a topic": Plant(
        "inside",
        "<div><h3>Related parties</h3><p>Companies that own half of us.</p><a href='/d'>Daughters</a></div>",
        "<div><h3>Related parties</h3><p>Companies that own a third of us.</p><a href='/d'>Daughters</a></div>",
    ),
    "related in the text": Plant(
        "inside",
        f"<h3>Related articles</h3><p>Read these too, for they bind you:</p><ul>{links('Fares', 'Dogs')}</ul>",
        f"<h3>Related articles</h3><p>Read these too, for they bind you:</p><ul>{links('Fares', 'Dogs', 'Fog')}</ul>",
    ),
    "networks that get data": Plant(
        "inside",
        f"<div><p>We give data to:</p><ul>{links('Facebook', 'LinkedIn')}</ul></div>",
        f"<div><p>We give data to:</p><ul>{links('Facebook', 'LinkedIn', 'Pinterest')}</ul></div>",
    ),
    "sharing as a topic": Plant(
        "inside",
        "<div><h3>Share</h3><p>A share gives one vote.</p></div>",
        "<div><h3>Share</h3><p>A share gives ten votes.</p></div>",
    ),
    "offers": Plant(
        "inside",
        f"<div>{card('Harbour', 'For small boats')}{card('Sea', 'For ships')}{card('Ocean', 'For fleets')}</div>",
        f"<div>{card('Harbour', 'For small boats')}{card('Sea', 'For ships')}{card('Ocean', 'For navies')}</div>",
    ),
    "a form explained": Plant(
        "inside", form("Enter your address. We answer within a month."), form("Enter your address. We may answer.")
    ),
    "contents of another page": Plant(
        "inside",
        f"<div><p>Contents</p><ul>{links('Part one', 'Part two', 'Part three')}</ul></div>",
        f"<div><p>Contents</p><ul>{links('Part one', 'Part two', 'Part three', 'Part four')}</ul></div>",
    ),
    "helpful as a topic": Plant(
        "inside",
        "<div><p>Was this helpful?</p><p>The court asked so, and said that it was of no help at all.</p></div>",
        "<div><p>Was this helpful?</p><p>The court asked so, and said that it was of great help to all.</p></div>",
    ),
    "ways to get it": Plant(
        "inside",
        "<ul><li>Print</li><li>E-mail</li></ul>",
        "<ul><li>Print</li><li>E-mail</li><li>WhatsApp</li></ul>",
    ),
    "subscriptions as a topic": Plant(
        "inside",
        "<div><h3>Subscribe</h3><p>To subscribe, write to the clerk.</p></div>",
        "<div><h3>Subscribe</h3><p>To subscribe, call the clerk.</p></div>",
    ),
}


def _contents(text: Element) -> str:
    """List the headings of a text, with links to them."""
    names = [" ".join(one.text.split()) for tag in ("h2", "h3") for one in text.find_all(tag)]
    items = "".join(f"<li><a href='#{number}'>{escape(name)}</a></li>" for number, name in enumerate(names) if name)
    return f"<div><p>On this page</p><ul>{items}</ul></div>" if items else ""


def listed(body: bytes) -> Pair | None:
    """Return a page without and with a table of contents (None: it has one)."""
    tree = parse_html(body)
    text, old = text_of(tree), tree.html
    markup = "" if text is None else _contents(text)
    if text is None or not markup:
        return None
    text.insert_adjacent_html("afterbegin", markup)
    return old, tree.html
