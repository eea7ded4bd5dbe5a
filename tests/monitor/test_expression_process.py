import os
import signal
import time

import pytest

from sanderling.monitor.expression_process import ExpressionProcess, ExpressionTimeout, is_expression_fast


def test_matches_and_groups() -> None:
    process = ExpressionProcess()
    assert process.find_matches(r"\d+ EUR", "12 EUR, 13 EUR\n14 EUR", 2) == ["12 EUR", "13 EUR"]
    assert process.find_matches(r"^Price: (.*)$", "Price: 5 \u20ac\nPrice:  \nPrice: 6", 9) == ["5 \u20ac", " ", "6"]
    process.close()


def test_expression_is_stopped_at_the_time_limit_and_the_next_one_works() -> None:
    process, started = ExpressionProcess(), time.monotonic()
    with pytest.raises(ExpressionTimeout, match="too long"):
        process.find_matches("(a+)+$", "a" * 40 + "!", 1, 0.3)
    assert time.monotonic() - started < 5
    assert process.find_matches("b", "abc", 1) == ["b"]
    process.close()


def test_long_texts_and_replies_pass_the_pipe() -> None:
    process = ExpressionProcess()
    assert process.find_matches("(?s)x.*", "x" * 900_000, 1) == ["x" * 900_000]
    process.close()


def test_child_that_was_killed_is_restarted() -> None:
    process = ExpressionProcess()
    process.find_matches("a", "a", 1)
    assert process._process is not None
    os.kill(process._process.pid, signal.SIGKILL)
    assert process.find_matches("a", "a", 1) == ["a"]
    process.close()


@pytest.mark.parametrize("expression", [r"Price: (.+)", r"\d+(?:[.,]\d+)*\s*(?:EUR|\u20ac)", r"^\s*(\S+)"])
def test_usual_expressions_are_fast(expression: str) -> None:
    assert is_expression_fast(expression)
