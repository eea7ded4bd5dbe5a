"""Every regular expression of the package takes time in proportion to its input.

Expressions are found in all modules, and inputs are built from the parts that they repeat: a new one is tested without
being listed here.
"""

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from tests.support.expressions import ANCHORED_METHODS, Expression, build_attacks, find_expressions

from sanderling.content.volatile import counters, ratings
from sanderling.content.volatile.strip import MAX_TOKEN_LINE_LENGTH, MAX_VOLATILE_LENGTH
from sanderling.html.declared_encoding import PRESCAN_BYTES

ROOT = Path(__file__).parents[2]
SIZE, GROWTH = 4000, 4
FAST_SECONDS = 0.0003  # of 4000 characters: a quadratic expression takes longer
TIME_LIMIT_SECONDS = 0.2  # of matching: stops exponential expressions
TOLERATED = 8.0  # ratio of the times of four times the input: linear 4, quadratic 16
BOUNDED_SECONDS = 0.1  # of matching the longest text; these expressions take a tenth
PACKAGES = {
    *("changes", "cli", "config", "content", "crawl", "db", "discovery", "fetch", "fingerprint", "frontier", "html"),
    *("http", "monitor", "publisher", "revisit", "search", "templates", "urls", "warc", "workers"),
}
ROUNDS = 3  # another process may take the cache
LINE, SHORT_LINE, TOKEN_LINE = MAX_VOLATILE_LENGTH, counters.MAX_LINE_LENGTH, MAX_TOKEN_LINE_LENGTH
BOUNDED = {  # expressions that the code applies to short texts only, with the length that it checks before
    "content.volatile.counters.COUNTER_PATTERNS": SHORT_LINE,
    "content.volatile.counters.CJK_COUNTER": SHORT_LINE,
    "content.volatile.ratings.SCORE_WITH_COUNT": ratings.MAX_LINE_LENGTH,
    "content.volatile.relative_time.CJK_AGO": LINE,
    "content.volatile.strip.HELPFUL_VOTES": LINE,
    "content.volatile.strip.COUNTDOWN": LINE,
    "content.volatile.strip.GENERATION_TIME": LINE,
    "content.volatile.strip.LABELED_ID": LINE,
    "content.volatile.strip.ARITHMETIC_CAPTCHA": LINE,
    "content.volatile.strip.COPYRIGHT_YEARS": LINE,
    "content.volatile.strip.TOKEN": TOKEN_LINE,
    "html.declared_encoding.EXCLUDED_TAGS_PATTERN": PRESCAN_BYTES,  # parts of an expression
    "html.declared_encoding.PLAIN_MARKUP_PATTERN": PRESCAN_BYTES,
    "html.declared_encoding.TAG_REST_PATTERN": PRESCAN_BYTES,
    "html.parser._search_meta_charset": PRESCAN_BYTES,
}


class TimeLimitError(Exception):
    """Matching took longer than the limit."""


@cache
def _find_expressions() -> dict[str, Expression]:
    return find_expressions()


def _measure(expression: Expression, text: str) -> float:
    """Return the CPU seconds of matching; infinity beyond the limit."""

    def stop(*_: object) -> None:
        raise TimeLimitError

    pattern, method = expression
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    previous = signal.signal(signal.SIGVTALRM, stop)
    start = time.thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, TIME_LIMIT_SECONDS)
    try:
        if method in ANCHORED_METHODS:
            getattr(pattern, method)(subject)
        else:
            for _ in pattern.finditer(subject):
                pass
    except TimeLimitError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
    return time.thread_time() - start


def _build_text(attack: tuple[str, str, str], size: int) -> str:
    start, part, end = attack
    return start + part * (size // len(part)) + end


def _is_linear(expression: Expression, attack: tuple[str, str, str]) -> bool:
    small, large = _build_text(attack, SIZE), _build_text(attack, SIZE * GROWTH)
    best_small = _measure(expression, small)
    best_large = float("inf")
    if best_small == float("inf"):
        return False
    for _ in range(ROUNDS):
        if best_small < FAST_SECONDS:
            return True
        best_large = min(best_large, _measure(expression, large))
        if best_large < best_small * TOLERATED:
            return True
        best_small = min(best_small, _measure(expression, small))
    return False


def _find_slow_attack(expression: Expression) -> tuple[str, str, str] | None:
    attacks = build_attacks(expression.pattern)
    return next((attack for attack in attacks if not any(_is_linear(expression, attack) for _ in range(ROUNDS))), None)


def _takes_long(expression: Expression, length: int) -> bool:
    texts = [_build_text(attack, length) for attack in build_attacks(expression.pattern)]
    return any(min(_measure(expression, text) for _ in range(2)) > BOUNDED_SECONDS for text in texts)


def find_slow_expressions() -> list[str]:
    """Return the expressions that take too long, each with the input that shows it."""
    found = _find_expressions()
    gc.disable()  # collections would be measured, too
    slow = [
        f"{name}: {attack}"
        for name, expression in found.items()
        if name.split()[0] not in BOUNDED and (attack := _find_slow_attack(expression)) is not None
    ]
    bounded = {name: BOUNDED[name.split()[0]] for name in found if name.split()[0] in BOUNDED}
    return slow + [f"{name}: {length}" for name, length in bounded.items() if _takes_long(found[name], length)]


def test_time_grows_linearly() -> None:
    """Measured in a process of its own: this one has threads and caches of other tests."""
    script = (
        "import json; from tests.hostile import test_expressions as t; print(json.dumps(t.find_slow_expressions()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", script]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == []


def test_bounded_expressions_exist() -> None:
    assert {name.split()[0] for name in _find_expressions()} >= set(BOUNDED)


def test_expressions_of_all_packages_are_found() -> None:
    names = set(_find_expressions())
    assert {name.split(".")[0].split(":")[0] for name in names} >= PACKAGES
    assert {
        "discovery.xml_scanner._ATTRIBUTE",  # a pattern
        "http.content_type._HTML_START",  # a method of a pattern
        "content.soft_404.VISIBLE_ELEMENT_PATTERN",  # a string that is compiled when it is used
        "content.soft_404 wartungsarbeiten",  # an expression in a language file
        "content.volatile.timestamps.TIMESTAMP",  # filled with the words of language files
        "content.line_features.load_phrases",  # compiled by a function
        "fingerprint.scripts.STRING_LITERAL",
    } <= names, sorted(names)
    assert "januar" in _find_expressions()["content.volatile.timestamps.TIMESTAMP"].pattern.pattern


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"[\w:]+\s*=", "search"),  # quadratic: the attributes of sitemaps, once
        (r"\s+$", "search"),
        (r"(?:a|a)*b", "fullmatch"),  # exponential
        (r"(\w+\s?)*!", "match"),
        (r"\d*\d*x", "match"),
        (r"([^\W\d]+)\s*$", "search"),  # others that the package once had
        (r"\"(?:[^\"\\]|\\.)*\"", "search"),
        (r"<!--.*?-->", "search"),
        (r"://.*@", "search"),
        (r"(.*)cfid=[^&]+&cftoken=", "fullmatch"),
    ],
)
def test_slow_expression_is_recognized(pattern: str, method: str) -> None:
    assert _find_slow_attack(Expression(re.compile(pattern), method)) is not None
