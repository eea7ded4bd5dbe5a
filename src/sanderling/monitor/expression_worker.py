"""Child process of `expression_process`: reads JSON lines with an expression and a text, writes the matches."""

import json
import re
import sys


def find_matches(expression: str, text: str, limit: int) -> list[str]:
    """Return the first group of each match, or the whole match, without empty matches."""
    found: list[str] = []
    for match, _ in zip(re.finditer(expression, text, re.MULTILINE), range(limit), strict=False):
        part = match[1] if match.re.groups else match[0]
        if part:
            found.append(part)
    return found


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(find_matches(*json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
