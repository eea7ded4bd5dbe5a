"""Recognize lines that are main content wherever they are: policy notices and addresses.

Sites announce a new policy in a banner above the old text, and put their address into the footer.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import compress

from sanderling.content.word_lists import compile_lowercase

MAX_LINE_LENGTH = 400  # characters; longer lines are prose
DOCUMENT, REPLACEMENT = r"\b(?:{content.policy})\b", r"\b(?:{content.policy_update})\b"
has_date = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b").search
POSTAL_ADDRESS = (
    r"\b\d{1,5}[a-z]?,?\s+(?:[\w.'’-]+\s+){1,4}?(?:street|st\.|avenue|ave\b|road|rd\b|boulevard|blvd|lane|drive|"
    r"square|plaza|court|parkway|highway|quay|terrace)"
    r"|\b\w+(?:straße|strasse|str\.|gasse|allee|platz)\s*\d{1,4}\b|\b\w+\s(?:straße|strasse|str\.|allee|platz)\s*\d{1,4}\b"
    r"|\b\d{1,4}(?:\s?(?:bis|ter))?,?\s+(?:rue|avenue|boulevard|place|chemin|quai|allée)\s"
    r"|\b(?:calle|avenida|via|viale|piazza|rua|plaza|laan|straat)\s[^\d\n]{2,40},?\s*\d{1,4}\b"
    r"|\bp\.?\s?o\.?\s?box\s+\d+|\bpostfach\s+\d"
)
has_postal_address = re.compile(POSTAL_ADDRESS).search
has_email_address = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++").search


def is_policy_notice(line: str) -> bool:
    """Return whether a line announces, with a date, another version of a document such as a policy."""
    if len(line) > MAX_LINE_LENGTH or has_date(line) is None:
        return False
    small = line.lower()
    return all(compile_lowercase(pattern).search(small) for pattern in (DOCUMENT, REPLACEMENT))


def has_address(line: str) -> bool:
    """Return whether a line has an email address, a street address, or a PO box."""
    if len(line) > MAX_LINE_LENGTH or not ("@" in line or any(map(str.isdigit, line))):
        return False
    return has_email_address(line) is not None or has_postal_address(line.lower()) is not None


def is_content_anywhere(line: str) -> bool:
    return has_address(line) or is_policy_notice(line)


def find_policy_notices(lines: Sequence[str], line_indexes: Iterable[int]) -> list[int]:
    return [n for n in line_indexes if is_policy_notice(lines[n])]


def find_addresses(lines: Sequence[str], candidate_mask: bytes | bytearray) -> list[int]:
    return [n for n in compress(range(len(lines)), candidate_mask) if has_address(lines[n])]
