"""Clean text from web pages before it is printed to a terminal."""

import re

CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def strip_control_characters(text: object) -> str:
    """Remove terminal escape sequences and Unicode bidirectional controls."""
    return CONTROL_CHARACTERS.sub("", str(text))
