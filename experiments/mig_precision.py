"""MIG Table 7.1: precision and recall of finding pages built like a sample.

The thesis judged four sites by hand; they are gone. These four are made from a seed with the same numbers of pages:
five kinds of page that share the site's frame, with parts that come and go. Every kind is looked for with one sample.
"""

from collections.abc import Iterator
from random import Random

from experiments.frame import Figure, Row, Series, Table, measured
from experiments.web import sentence
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.templates.page_features import PageView
from sanderling.templates.page_partition import partition_pages

TITLE = "MIG Table 7.1: pages built like a sample, on seeded sites (measured)"

SIZES = {"T1": 980, "T2": 376, "T3": 574, "T4": 158}
PRINTED = {"T1": ((83.7, 85.4), (86.9, 86.9)), "T2": ((81.9, 81.9), (87.2, 87.3)), "T3": ((83.6, 83.6), (82.4, 82.5))}
PRINTED |= {"T4": ((86.0, 86.1), (83.4, 83.4))}
KINDS = ("news", "people", "course", "gallery", "notice")
BLOCKS = {
    "news": "<article class='story'><h1>{t}</h1><div class='byline'>{s}</div>{p}<aside><ul>{l}</ul></aside></article>",
    "people": "<div class='person'><h1>{t}</h1><table class='contact'></table><section class='bio'>{p}</section></div>",
    "course": "<div class='course'><h1>{t}</h1><dl class='facts'><dt>{s}</dt></dl>{p}<table class='plan'></table>",
    "gallery": "<div class='gallery'><h1>{t}</h1><ul class='grid'>{l}</ul><figure>{s}</figure></div>",
    "notice": "<div class='notice'><h1>{t}</h1><blockquote>{p}</blockquote><form class='reply'>{s}</form></div>",
}
EXTRAS = (
    "<div class='banner'>{s}</div>",
    "<div class='poll'><form><ul>{l}</ul></form></div>",
    "<section>{s}</section>",
)
FRAME = "<header class='top'><nav class='menu'><ul></ul></nav></header><main>{}</main><footer class='foot'></footer>"
ODD, ODDER = 0.02, 0.10  # share of pages that lie in another folder than their kind: a tidy site, an untidy one
SAMPLES = 5  # per kind


def page(kind: str, draw: Random) -> bytes:
    """Write a page of a kind: the site's frame, the kind's parts, and parts that come and go on any page."""
    chosen = "".join(extra for extra in EXTRAS if draw.random() < 0.3)
    inside = chosen + BLOCKS[kind] if draw.random() < 0.5 else BLOCKS[kind] + chosen
    if draw.random() < 0.1:  # an editor left something out
        inside = inside.replace("<div class='byline'>{s}</div>", "").replace("<figure>{s}</figure>", "")
    paragraphs = "".join(f"<p>{sentence(draw, 20)}</p>" for _ in range(draw.randrange(1, 9)))
    items = "".join(f"<li>{sentence(draw, 3)}</li>" for _ in range(draw.randrange(1, 12)))
    filled = inside.format(t=sentence(draw, 4), s=sentence(draw, 5), p=paragraphs, l=items)
    return f"<!doctype html><title>{sentence(draw, 3)}</title><body>{FRAME.format(filled)}</body>".encode()


def judge(name: str, odd: float) -> tuple[float, float]:
    """Give precision and recall over all kinds of one site, each looked for with one sample at a time."""
    draw = Random(f"2017 {name}")
    kinds = [draw.choice(KINDS) for _ in range(SIZES[name])]
    looks = [
        PageView(
            number,
            f"http://x.example/{_folder(kind, odd, draw)}/{number}.html",
            f"Page {number}",
            fingerprint_structure(parse_html(page(kind, draw))),
        )
        for number, kind in enumerate(kinds)
    ]
    places = {id_: number for number, found in enumerate(partition_pages(looks)) for id_ in found.ids}
    precision, recall = [], []
    for kind in KINDS:
        right = {number for number, other in enumerate(kinds) if other == kind}
        for sample in draw.sample(sorted(right), SAMPLES):
            found = {number for number, place in places.items() if place == places[sample]}
            precision.append(100 * len(found & right) / len(found))
            recall.append(100 * len(found & right) / len(right))
    return sum(precision) / len(precision), sum(recall) / len(recall)


def _folder(kind: str, odd: float, draw: Random) -> str:
    return draw.choice(("archive", "misc")) if draw.random() < odd else kind


def table() -> Table:
    """Judge all four sites, tidy and untidy."""
    tidy, untidy = ({name: judge(name, odd) for name in SIZES} for odd in (ODD, ODDER))
    figure = Figure(
        "Precision and recall",
        tuple(SIZES),
        (
            Series("precision, printed", tuple(PRINTED[name][0][0] for name in SIZES)),
            Series("precision, ours", tuple(precision for precision, _ in tidy.values())),
            Series("recall, printed", tuple(PRINTED[name][1][0] for name in SIZES)),
            Series("recall, ours", tuple(recall for _, recall in tidy.values())),
        ),
        "%",
    )
    rows = [row for name in SIZES for row in _rows(name, *tidy[name])]
    for place, what in enumerate(("precision", "recall")):
        mean = sum(pair[place] for pair in untidy.values()) / len(untidy)
        rows.append(measured(f"untidy sites: mean {what} %", None, None, mean, 70.0, 100.0))
    remark = (
        "Tidy: 2 % of the pages lie in another folder than their kind; untidy: 10 %. URLs are evidence, so that costs."
    )
    return Table(TITLE, tuple(rows), remark, figure)


def _rows(name: str, precision: float, recall: float) -> Iterator[Row]:
    for what, (printed, corrected), ours in zip(
        ("precision", "recall"), PRINTED[name], (precision, recall), strict=True
    ):
        yield measured(f"{name}: {what} %", printed, corrected, ours, corrected, 100.0)
