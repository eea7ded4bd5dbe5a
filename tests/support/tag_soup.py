"""Random invalid HTML: tags in any order, half of them unclosed."""

from random import Random

TAGS = (
    *("a", "a", "a", "a", "p", "p", "div", "div", "span", "span", "b", "i", "em", "font", "li", "ul", "ol", "dl"),
    *("dt", "dd", "table", "tr", "td", "th", "tbody", "thead", "caption", "colgroup", "col", "h1", "h2", "h3"),
    *("form", "button", "select", "option", "optgroup", "textarea", "title", "noscript", "iframe", "script"),
    *("style", "pre", "object", "svg", "path", "g", "text", "desc", "img", "area", "meta", "link", "base", "br"),
    *("hr", "input", "section", "article", "nav", "center", "address", "code", "u", "small", "strong", "label"),
    *("datalist", "ruby", "rt", "rp", "x-foo", "html", "head", "body", "details", "summary", "fieldset", "figure"),
    *("blockquote", "main", "template", "math", "frameset", "nobr", "plaintext", "dialog", "rtc"),
)
ATTRIBUTES = (
    *('href="%s"', "href=%s", "href='%s#f'", 'class="%s b1"', 'rel="nofollow %s"', 'alt=" %s "', "name=%s", "lang=%s"),
    *('content="%s"', 'http-equiv=refresh content="0;url=%s"', "src=%s", "id=x", 'HREF="%s"', "/", "xx", '="'),
    *("type=%s", "media=%s", "hreflang=%s", "rel=alternate", "rel=next", "name=robots content=noindex", "href"),
)
VALUES = ("u", "v", "", "#x", "http://h/q?a=1&b=2&copy=3", "w&amp;z", "é", "&#35;y", "a&lt", "&nbsp;")
TEXTS = (
    *(
        "tide ",
        "  ",
        "\n",
        "&amp;",
        "&nbsp;",
        "&copy",
        "&lt;x",
        "&#65;",
        "&#x97;",
        "&#8212",
        "&notit;",
        "&foo",
        "&foo;",
    ),
    *("&a=b", "é", "日本語", "<", "< ", "<3", "\r\n", "\r", "t", "T the", "\xa0", "&", "&#", "&#x", "&#0;", "&#xD800;"),
    *("-->", "<!-- c -->", "<!-->", "<!--->x", "<!-- a --!>", "<?php x>", "</>", "</ x>", "<!x>", "<![CDATA[x]]>"),
    *("404 not found", "domain", "<!--<script>", "\x0c", "\ufeff"),
)
BEGINNINGS = (
    *("", "", "<!doctype html>", "<html lang=de><head><title>x</title></head><body class=k>", "<html><head>"),
    *("<title>t</title>", "\n <html lang='en'>", "<body>", "<noscript><link rel=next href=n></noscript>"),
)


def soup(dice: Random) -> str:
    """Return a random page."""
    share = dice.random()  # of unclosed tags
    pieces = [dice.choice(BEGINNINGS)]
    for _ in range(dice.choice([1, 2, 4, 8, 16, 30])):
        draw = dice.random()
        loose = _tag(dice) if draw < share else dice.choice(TEXTS)
        pieces.append(loose if draw < share + 0.1 else _table(dice) if draw > 0.93 else _part(dice, 4))
    return "".join(pieces)


def stew(dice: Random) -> str:
    """Return a random page of few tag names, opened and closed in any order."""
    names, pieces, opened = dice.choices(TAGS, k=5), [dice.choice(BEGINNINGS)], ["p"]
    for position in range(dice.choice([5, 10, 20])):
        draw, name = dice.random(), dice.choice(names)
        if draw < 0.45:
            pieces.append(f"<{name} href=u{position}>")
            opened.append(name)
        else:
            pieces.append(f"</{dice.choice(opened)}>" if draw < 0.8 else f"t{position}")
    return "".join(pieces)


def _attributes(dice: Random) -> str:
    chosen = dice.choices(ATTRIBUTES, k=dice.choice([0, 0, 1, 2, 3]))
    return "".join(" " + (attribute % dice.choice(VALUES) if "%" in attribute else attribute) for attribute in chosen)


def _tag(dice: Random) -> str:
    name = dice.choice(TAGS)
    name = name.upper() if dice.random() < 0.1 else name
    if dice.random() < 0.42:
        return f"</{name}{dice.choice(['', '', ' ', '/', ' x'])}>"
    return f"<{name}{_attributes(dice)}{dice.choice(['', '', '', ' ', '/', ' /'])}>"


def _part(dice: Random, depth: int) -> str:
    if depth == 0 or dice.random() < 0.25:
        return dice.choice(TEXTS)
    name = dice.choice(TAGS)
    inner = "".join(_part(dice, depth - 1) for _ in range(dice.choice([0, 1, 1, 2, 3])))
    return f"<{name}{_attributes(dice)}>{inner}" + (f"</{name}>" if dice.random() < 0.92 else "")


def _table(dice: Random) -> str:
    cells = (f"<td>{_part(dice, 2)}{dice.choice(['</td>', ''])}" for _ in range(dice.choice([1, 2])))
    rows = f"<tr>{''.join(cells)}{dice.choice(['</tr>', ''])}" * dice.choice([1, 2])
    return f"<table>{rows}{dice.choice(['</table>', '</tbody></table>'])}"
