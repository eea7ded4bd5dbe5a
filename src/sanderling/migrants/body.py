"""A whole body without its content coding."""

from sanderling.records import Reason


def decoded(body: bytes, coding: str, cap_bytes: int) -> tuple[bytes, Reason]:
    """Undo the content coding; with a reason, the bytes are those that came before the trouble."""
    if not coding:
        return (body, Reason.NONE) if len(body) <= cap_bytes else (body[:cap_bytes], Reason.TOO_LARGE)
    from sanderling.migrants.coding import Problem, decoder_for  # loads every decoder there is

    reasons = {
        Problem.NONE: Reason.NONE,
        Problem.NOT_CODED: Reason.NONE,  # announced and not done: the page is there all the same
        Problem.TOO_LARGE: Reason.TOO_LARGE,
    }
    decoder = decoder_for(coding, cap_bytes)
    start = decoder.feed(body)
    rest = decoder.finish()
    return start + rest if rest else start, reasons.get(decoder.problem, Reason.BAD_ENCODING)
