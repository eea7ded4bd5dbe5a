import pytest

from sanderling.fingerprint import normalized_lines
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.model import Fingerprint
from sanderling.html.parser import parse_html


def test_several_bare_times_are_a_timetable_and_a_single_time_is_volatile() -> None:
    def fingerprint(*times: str) -> Fingerprint:
        return fingerprint_page(parse_html("".join(f"<p>{time}</p>" for time in times).encode()))

    assert fingerprint("08:15").block_hashes == fingerprint("08:45").block_hashes
    assert (
        fingerprint("08:15", "09:15", "10:15", "11:15").block_hashes
        != fingerprint("08:15", "09:15", "10:15", "11:45").block_hashes
    )


def test_white_space_and_soft_hyphens_are_ignored() -> None:
    def fingerprint(words: str) -> Fingerprint:
        return fingerprint_page(parse_html(f"<p>{words}</p>".encode()))

    for space in ("\u00a0", "\u202f", "\u2009", "\u3000", "\u200b", "\u00ad", "  "):
        assert fingerprint(f"1{space}000 euros") == fingerprint("1000 euros")


def test_lines_beyond_the_limit_are_fingerprinted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalized_lines, "MAX_LINES", 100)
    long = "<br>".join(f"line {n}" for n in range(200))
    assert (
        fingerprint_page(parse_html(f"{long}<br>end".encode())).block_hashes
        != fingerprint_page(parse_html(f"{long}<br>finish".encode())).block_hashes
    )
