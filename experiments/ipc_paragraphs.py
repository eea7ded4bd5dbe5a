"""IPC Tables 9 to 12: real news pages by paragraph, and the captions that were swapped."""

from collections.abc import Iterator

from experiments.frame import Figure, Row, Series, Table, exact, measured
from experiments.paper_methods import combine_paragraph_rms
from sanderling.changes.paper_signatures import compute_checksum, compute_rms

TITLE = "IPC Tables 9-12: paragraph and page signatures of a news page"

Runs = tuple[tuple[float, str], ...]

V1_P4: Runs = (
    (13, "Desi-videshi row may ground Air India"),
    (8.5, "SAURABH SINHA 5 hours ago"),
    (
        10,
        "Pilots of erstwhile Indian Airlines have threatened to go on strike if expats get paid in full again, before "
        "the desis get their flying allowances \u2014 that account for 75%-85% of the total pay \u2014 of "
        "last two months.",
    ),
    (9.5, "Blog: Satyam way for Air India?"),
)
V1_P5: Runs = (
    (13, "SPORT"),
    (11, "India look to draw level against Australia"),
    (9.5, "Sunny hopes Sachin reaches 17K today"),
    (9.5, "Not possible to bat up the order always: Dhoni"),
    (9.5, "Brazilian star Robinho to quit Manchester City"),
)
V1_P6: Runs = (
    (13, "INDIA"),
    (11, "Rahul may take on Mulayam in his den"),
    (9.5, "Maoists change strategy, leave alone passengers"),
    (9.5, "Terrorists not worthy of being called Muslims: Ansari"),
    (9.5, "Defence supply: Pvt firms can partner foreign cos"),
)
V6_P2: Runs = (
    (13, "Centre plans to pave way for M F Husain's early return"),
    (
        10,
        "The 94-year-old painter, who has been living in exile for the last few years, wants to come back to India and "
        "had recently made an emotional appeal in this regard.",
    ),
    (10, "Hindu outfit wants museum to remove Husain painting Art summit not to display Husain paintings"),
)
# paragraph: text, checksum (captioned RMS in print), RMS (captioned checksum), both as printed
PARAGRAPHS: dict[str, tuple[Runs, float, float]] = {
    "V1 P4": (V1_P4, 261.167, 295.606),
    "V1 P5": (V1_P5, 154.898, 258.498),
    "V1 P6": (V1_P6, 168.383, 280.597),
    "V6 P2": (V6_P2, 284.380, 318.777),
}
# Table 10, whole page and its paragraphs: the page is a tenth of their sum
CHECKSUMS = {
    "V1": (161.176, (355.779, 346.451, 325.086, 261.167, 154.898, 168.383)),
    "V2": (131.122, (356.838, 317.343, 291.005, 168.39, 177.651)),
    "V4": (129.4951, (364.99, 341.317, 260.205, 166.285, 162.152)),
    "V5": (121.0349, (364.55, 264.664, 272.749, 168.091, 140.293)),
    "V6": (116.56, (346.89, 284.38, 242.97, 142.487, 148.874)),  # 242.87 in print
}
# Table 12: RMS of the page, its distinct symbols, and (distinct symbols, RMS) of its paragraphs
RMS: dict[str, tuple[float, int, tuple[tuple[int, float], ...]]] = {
    "V2": (586.280, 41, ((33, 330.914), (29, 339.495), (25, 351.344), (26, 262.969), (25, 282.021))),
    "V3": (587.837, 41, ((32, 353.926), (31, 321.996), (31, 309.317), (26, 262.963), (24, 282.439))),
    "V4": (588.829, 40, ((30, 346.411), (27, 366.823), (28, 312.733), (27, 263.958), (23, 274.968))),
    "V5": (607.874, 35, ((30, 346.317), (27, 318.672), (24, 345.231), (26, 270.575), (26, 247.605))),
    "V6": (586.806, 36, ((30, 339.439), (29, 318.777), (26, 312.316), (28, 238.419), (25, 256.381))),
    "V7": (585.671, 36, ((29, 340.564), (29, 318.777), (26, 312.316), (27, 238.419), (24, 256.381))),
}
RMS_V1 = ((33, 330.995), (29, 339.490), (27, 357.407), (32, 295.606), (26, 258.498), (24, 280.597))


def table() -> Table:
    """Sign the paragraphs whose text the figures show, and join paragraphs into pages."""
    remark = "Tables 9 and 10 hold the checksum, 11 and 12 the RMS: the captions are swapped (E35)."
    return Table(TITLE, (*_paragraphs(), *_pages(), *_within()), remark, _figure())


def _paragraphs() -> Iterator[Row]:
    for name, (runs, sum_printed, rms_printed) in PARAGRAPHS.items():
        yield exact(f"{name} checksum (captioned RMS)", sum_printed, sum_printed, compute_checksum(runs), 1e-3)
        text = " ".join(words for _, words in runs)
        yield exact(f"{name} RMS (captioned checksum)", rms_printed, rms_printed, compute_rms(text), 1e-3)


def _pages() -> Iterator[Row]:
    for version, (page, parts) in CHECKSUMS.items():
        yield exact(f"{version} page checksum from its paragraphs", page, page, sum(parts) / 10, 1e-3)
    yield exact(
        "V3 P2 checksum (lost in print)", None, 288.68, 10 * 126.053 - (381.304 + 266.965 + 160.276 + 163.306), 1e-2
    )
    yield exact("V1 page RMS from its paragraphs", 625.616, 625.616, combine_paragraph_rms(RMS_V1, 43), 2e-3)


def _within() -> Iterator[Row]:
    """From the second version on the page has text outside its paragraphs, so these explain at most its value."""
    for version, (page, distinct, parts) in RMS.items():
        ours = combine_paragraph_rms(parts, distinct)
        yield measured(f"{version} page RMS, at least by its paragraphs", page, page, ours, 0.98 * page, 1.0001 * page)


def _figure() -> Figure:
    """How both signatures of the page fall over seven versions."""
    versions = tuple(f"V{number}" for number in range(1, 7))
    sums = {version: sum(parts) / 10 for version, (_, parts) in CHECKSUMS.items()} | {"V3": 126.053}
    roots = {version: combine_paragraph_rms(parts, distinct) for version, (_, distinct, parts) in RMS.items()}
    roots["V1"] = combine_paragraph_rms(RMS_V1, 43)
    return Figure(
        "Page signatures from paragraphs",
        versions,
        (
            Series("checksum", tuple(sums[version] for version in versions)),
            Series("RMS", tuple(roots[version] for version in versions)),
        ),
    )
