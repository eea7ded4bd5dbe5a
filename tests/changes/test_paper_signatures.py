"""RMS and the font-weighted checksum, with the numbers of the papers."""

import hashlib
import math

import pytest
from experiments.paper_methods import combine_paragraph_rms, compute_digests

from sanderling.changes.paper_signatures import compute_checksum, compute_paper_signature, compute_rms, get_font_points

Runs = list[tuple[float, str]]

DOG = "The quick brown fox jumps over the lazy dog"
COG = "The quick brown fox jumps over the lazy cog"

# Text of the papers' figures
V1P5 = (
    "SPORT",
    "India look to draw level against Australia",
    "Sunny hopes Sachin reaches 17K today",
    "Not possible to bat up the order always: Dhoni",
    "Brazilian star Robinho to quit Manchester City",
)
V1P6 = (
    "INDIA",
    "Rahul may take on Mulayam in his den",
    "Maoists change strategy, leave alone passengers",
    "Terrorists not worthy of being called Muslims: Ansari",
    "Defence supply: Pvt firms can partner foreign cos",
)
SIZES = (13.0, 11.0, 9.5, 9.5, 9.5)
V1P4: Runs = [
    (13, "Desi-videshi row may ground Air India"),
    (8.5, "SAURABH SINHA 5 hours ago"),
    (
        10,
        "Pilots of erstwhile Indian Airlines have threatened to go on strike if expats get paid in full again, before "
        "the desis get their flying allowances \u2014 that account for 75%-85% of the total pay \u2014 of "
        "last two months.",
    ),
    (9.5, "Blog: Satyam way for Air India?"),
]
V2P2: Runs = [
    (13, "PM to visit Kashmir today, may invite separatists for talks"),
    (8.5, "TNN 3 hours ago"),
    (
        10,
        "Security forces were put on alert ahead of Manmohan Singh's visit to the Valley on Wednesday, during which he "
        "is likely to invite Kashmiri separatists to join talks.",
    ),
    (
        10,
        "Separate inquiries ordered into youth's killing in J&K Farooq blames cops for J&K youth's death in custody",
    ),
]
V6P2: Runs = [
    (13, "Centre plans to pave way for M F Husain's early return"),
    (
        10,
        "The 94-year-old painter, who has been living in exile for the last few years, wants to come back to India and "
        "had recently made an emotional appeal in this regard.",
    ),
    (10, "Hindu outfit wants museum to remove Husain painting Art summit not to display Husain paintings"),
]
LEAD = (18.0, "Rajdhani hostage saga: Motive still a mystery")
BODY = (
    10.0,
    "The Bhubaneswar-New Delhi Rajdhani Express taken hostage by armed tribals at Banstala Halt Station was no mere "
    "blockade. The move has laid bare the PCPA\u2019s links with Maoists.",
)
V6P1: Runs = [
    LEAD,
    BODY,
    (
        10,
        "Railways blames intelligence failure for Rajdhani mess Maoists abduct 2 train drivers in Bengal 'What Muslims "
        "were to BJP, Maoists are to Cong'",
    ),
]
V7P1: Runs = [
    LEAD,
    BODY,
    (
        10,
        "Probe Mamata role in trainjacking: CPM Railways blames intel failure for Rajdhani mess 'What Muslims were to "
        "BJP, Maoists are to Cong'",
    ),
]
V6P3: Runs = [
    (13, "40 deemed varsities don\u2019t meet norms"),
    (
        10,
        "HRD ministry and Kapil Sibal have kept the report on deemed universities by its own committee under wraps "
        "because the panel has said that over 40 universities do not deserve deemed status.",
    ),
    (10, "No Indian university among world's top 100"),
]

# Table 10 (captioned RMS, holds the checksum, E35): page, then paragraphs; V3 P2 and V6 P3 recovered (E38, E39)
CHECKSUMS = {
    1: (161.176, (355.779, 346.451, 325.086, 261.167, 154.898, 168.383)),
    2: (131.122, (356.838, 317.343, 291.005, 168.39, 177.651)),
    3: (126.053, (381.304, 288.68, 266.965, 160.276, 163.306)),
    4: (129.4951, (364.99, 341.317, 260.205, 166.285, 162.152)),
    5: (121.0349, (364.55, 264.664, 272.749, 168.091, 140.293)),
    6: (116.56, (346.89, 284.38, 242.97, 142.487, 148.874)),
}
# Table 12 (captioned checksum, holds RMS): page, n, then (n, RMS) of the paragraphs of version 1
RMS_V1 = ((33, 330.995), (29, 339.490), (27, 357.407), (32, 295.606), (26, 258.498), (24, 280.597))


def truncate(value: float, places: int = 3) -> float:
    return math.floor(value * 10.0**places + 1e-6) / 10.0**places


def text(runs: Runs) -> str:
    return " ".join(part for _, part in runs)


def test_table_13_rms() -> None:
    assert round(compute_rms(DOG), 3) == 127.329
    assert round(compute_rms(COG), 3) == 129.820


def test_table_13_checksum_right_and_as_printed() -> None:
    assert round(compute_checksum([(12, DOG)]), 3) == 45.612
    assert round(compute_checksum([(12, COG)]), 3) == 45.600
    assert round(compute_checksum([(12, DOG)], skip_leading=2), 3) == 43.356  # printed; "Th" was lost (E37)
    assert round(compute_checksum([(12, COG)], skip_leading=2), 3) == 43.344


def test_rms_of_the_paper_pages() -> None:
    assert round(compute_rms(" ".join(V1P6)), 3) == 280.597
    assert round(compute_rms(" ".join(V1P5)), 3) == 258.498
    assert round(compute_rms(text(V1P4)), 3) == 295.606
    assert round(compute_rms(text(V2P2)), 3) == 339.495
    assert truncate(compute_rms(text(V6P2))) == 318.777
    for runs, value in ((V6P1, 339.439), (V7P1, 340.564), (V6P3, 312.316)):
        assert abs(compute_rms(text(runs)) - value) < 0.0011


def test_checksum_of_the_paper_pages() -> None:
    assert truncate(compute_checksum(zip(SIZES, V1P6, strict=True))) == 168.383
    assert truncate(compute_checksum(zip(SIZES, V1P5, strict=True))) == 154.898
    assert truncate(compute_checksum(V1P4)) == 261.167
    assert truncate(compute_checksum(V2P2)) == 317.343
    assert round(compute_checksum(V6P2), 3) == 284.380
    for runs, value in ((V6P1, 346.89), (V7P1, 337.37), (V6P3, 242.97)):
        assert truncate(compute_checksum(runs), 2) == value


@pytest.mark.parametrize("version", CHECKSUMS)
def test_page_checksum_is_a_tenth_of_its_paragraphs(version: int) -> None:
    page, paragraphs = CHECKSUMS[version]
    assert abs(sum(paragraphs) / 10 - page) < 0.001


def test_the_k_factors_differ_by_ten() -> None:
    assert compute_checksum(V6P2, 0.0001) == pytest.approx(compute_checksum(V6P2) / 10)


def test_page_rms_follows_from_its_paragraphs() -> None:
    assert abs(combine_paragraph_rms(RMS_V1, 43) - 625.616) < 0.002


def test_signatures_ignore_order_and_digests_do_not() -> None:
    one, other = "dog bites man", "man bites dog"
    assert compute_rms(one) == compute_rms(other)
    assert compute_checksum([(12, one)]) == compute_checksum([(12, other)])
    assert compute_digests(one) != compute_digests(other)


def test_table_13_digests() -> None:
    assert compute_digests(DOG)["md5"] == "9e107d9d372bb6826bd81d3542a419d6"
    assert compute_digests(DOG + ".")["md5"] == "e4d909c290d0fb1ca068ffaddf22cbd0"  # printed for "cog." (E41)
    assert compute_digests(COG)["md5"] == "1055d3e698d289f2af8663725127bd4b"
    assert compute_digests(COG)["sha1"] == "de9f2c7fd25e1b3afad3e85a0bd17d9b100db4b3"
    assert compute_digests(DOG)["sha512"] == hashlib.sha512(DOG.encode()).hexdigest()


def test_font_sizes_come_from_tags() -> None:
    assert (get_font_points("h1"), get_font_points("h6"), get_font_points("font", "7"), get_font_points("p")) == (
        24.0,
        8.0,
        36.0,
        12.0,
    )
    assert get_font_points("small", parent_points=10.0) == 8.0
    assert get_font_points("font", "red") == 12.0


def test_signature_of_empty_text_is_zero() -> None:
    assert compute_paper_signature([(12.0, " \n")]).rms == 0.0
    assert compute_rms("\u4e2d") == 0.0
    assert compute_rms("\u4e2d", ascii_only=False) > 0.0
