"""Recognize lines that are main content wherever they are: policy notices and addresses.

Sites announce a new policy in a banner above the old text, and put their address into the footer.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import compress

from sanderling.content.word_lists import compile_lowercase

MAX_LINE_LENGTH = 400  # characters; longer lines are prose
DOCUMENT, REPLACEMENT = r"\b(?:{content.policy})\b", r"\b(?:{content.policy_update})\b"
DATE = r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}\.? (?:{volatile.months})\b"
DATE += r"|\b(?:{volatile.months})\.? \d{1,2}\b|\b(?:{content.coming})\b"
POSTAL_ADDRESS = (
    r"\b\d{1,5}[a-z]?,?\s+(?:[\w.'’-]+\s+){1,4}?(?:street|st\.|avenue|ave\b|road|rd\b|boulevard|blvd|lane|drive|"
    r"square|plaza|court|parkway|highway|quay|terrace)"
    r"|\b\w+(?:straße|strasse|str\.|gasse|allee|platz)\s*\d{1,4}\b|\b\w+\s(?:straße|strasse|str\.|allee|platz)\s*\d{1,4}\b"
    r"|\b\d{1,4}(?:\s?(?:bis|ter))?,?\s+(?:rue|avenue|boulevard|place|chemin|quai|allée)\s"
    r"|\b(?:calle|avenida|via|viale|piazza|rua|plaza|laan|straat)\s[^\d\n]{2,40},?\s*\d{1,4}\b"
    r"|\bp\.?\s?o\.?\s?box\s+\d+|\bpostfach\s+\d"
)
has_postal_address = re.compile(POSTAL_ADDRESS).search
POSTAL_CODE = (  # between a street number and a city: 20, 00-850 Warszawa
    r"\b\d{1,4}[a-zA-Z]?,\s*(?:[A-Z]{1,2}-)?(?!(?:19|20)\d\d\b)(?:\d{4,6}|\d\d-\d{3}|\d{3} \d\d)\s+[A-ZÀ-ÞĀ-ŽА-Я]"
    r"|〒\s?\d{3}-?\d{4}|[^\W\d_][\s,]{1,3}\d{3}-\d{4}\b(?!-)"  # Japan
    r"|\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b|,\s*[A-Z]{2} \d{5}\b"  # United Kingdom, United States
)
has_postal_code = re.compile(POSTAL_CODE).search
PHONE_LABELS = "tel|phone|telephone|fax|mobile|call|telefon|telefax|téléphone|teléfono|telefone|telefono|telefoon|тел"
PHONE_NUMBER = (
    r"(?<![\w+])\+\d(?:[\s./()-]{0,2}\d){7,14}(?!\d)"
    rf"|\b(?:{PHONE_LABELS})\b[^\w\n]{{1,4}}\d(?:[\s./()-]{{0,2}}\d){{4,14}}"
)
has_phone_number = re.compile(PHONE_NUMBER).search
has_email_address = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++").search


def is_policy_notice(line: str) -> bool:
    """Return whether a line announces, with a date or "soon", another version of a document such as a policy."""
    if len(line) > MAX_LINE_LENGTH:
        return False
    small = line.lower()
    return all(compile_lowercase(pattern).search(small) for pattern in (DOCUMENT, REPLACEMENT, DATE))


def has_address(line: str) -> bool:
    """Return whether a line has an email address, a phone number, a street address, or a PO box."""
    if len(line) > MAX_LINE_LENGTH or not ("@" in line or any(map(str.isdigit, line))):
        return False
    small = line.lower()
    return (
        has_email_address(line) is not None
        or has_postal_address(small) is not None
        or has_phone_number(small) is not None
        or has_postal_code(line) is not None
    )


def is_content_anywhere(line: str) -> bool:
    return has_address(line) or is_policy_notice(line)


def find_policy_notices(lines: Sequence[str], line_indexes: Iterable[int]) -> list[int]:
    return [n for n in line_indexes if is_policy_notice(lines[n])]


def find_addresses(lines: Sequence[str], candidate_mask: bytes | bytearray) -> list[int]:
    return [n for n in compress(range(len(lines)), candidate_mask) if has_address(lines[n])]
