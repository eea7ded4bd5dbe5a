"""Prose without its line breaks: where an author's editor wrapped a line is noise in the middle of sentences.

Lines of a paragraph become one line, followed by the number of spaces that each of them had. So "of" is followed by
"the" wherever the line ended.
"""

MARK = b"\x03"
LEAST = 40  # bytes of a line that was wrapped; code has shorter lines, and they end where they must
MOST_SPACES = 90
MOST_INDENT = 64
FIRST = 32  # added to a number of spaces
NOT_LAST, NOT_FIRST = b" >\t\r", b"<\t\r"  # around a break in the middle of a sentence


def join(text: bytes) -> bytes:
    """Make every paragraph one line."""
    paragraphs = list[list[bytes]]()
    before, depth = b"", 0
    for line in text.split(b"\n"):
        bare = line.lstrip(b" ")
        indent = len(line) - len(bare)
        if (
            indent == depth <= MOST_INDENT and len(before) >= LEAST and bare
            and before[-1] not in NOT_LAST and bare[0] not in NOT_FIRST
            and 0 < before.count(b" ") - indent <= MOST_SPACES
        ):  # fmt: skip
            paragraphs[-1].append(bare)
        else:
            paragraphs.append([line])
        before, depth = line, indent
    return b"\n".join([_one_line(lines) if len(lines) > 1 else lines[0] for lines in paragraphs])


def _one_line(lines: list[bytes]) -> bytes:
    counts = bytes([FIRST + line.lstrip(b" ").count(b" ") for line in lines[:-1]])
    return b" ".join(lines) + MARK + counts


def split(text: bytes, most: int) -> bytes:
    """Break the lines where they were broken; ValueError if they cannot have been, or for more than `most` bytes."""
    if MARK not in text:
        return text
    lines, size = list[bytes](), len(text)
    for line in text.split(b"\n"):
        joined, mark, counts = line.partition(MARK)
        if mark:
            indent = len(joined) - len(joined.lstrip(b" "))
            size += indent * len(counts)
            if indent > MOST_INDENT or size > most:
                raise ValueError("a paragraph that grows too much")
            lines += _broken(joined[:indent], joined[indent:].split(b" "), counts)
        else:
            lines.append(line)
    return b"\n".join(lines)


def _broken(indent: bytes, words: list[bytes], counts: bytes) -> list[bytes]:
    lines, at = list[bytes](), 0
    for count in counts:
        end = at + count - FIRST + 1
        if not at < end < len(words):
            raise ValueError("a paragraph that breaks where it has no space")
        lines.append(indent + b" ".join(words[at:end]))
        at = end
    return [*lines, indent + b" ".join(words[at:])]
