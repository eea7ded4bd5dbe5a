"""Words of strangers on a person's terminal."""

import re

CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def strip_control_characters(text: object) -> str:
    """Take out what a terminal would obey: colours, titles, directions of writing."""
    return CONTROL_CHARACTERS.sub("", str(text))
