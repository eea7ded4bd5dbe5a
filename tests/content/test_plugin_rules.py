"""Content rules of plugins: they change what is compared, and a broken one changes nothing."""

import logging

import pytest
from tests.support.plugins import Install

from sanderling.content.plugin_rules import apply_content_rules, compute_rules_checksum
from sanderling.fingerprint.build import fingerprint_page
from sanderling.html.parser import parse_html

ENTRY_POINTS = """
[sanderling.content_rules]
level = example_plugin_module:strip_level
failing = example_plugin_module:fail
missing = example_plugin_module:missing
"""
SOURCE = """
def strip_level(line):
    return line.partition(" level ")[0]

def fail(line):
    raise ValueError("no")
"""


def fingerprint(level: str) -> bytes:
    page = parse_html(
        f"<title>Tide level {level}</title><main><p>The tide level {level}</p><p>at noon</p></main>".encode()
    )
    found = fingerprint_page(page)
    return found.block_hashes + found.title


def test_without_plugins_nothing_changes() -> None:
    assert compute_rules_checksum() == 0
    assert fingerprint("low") != fingerprint("high")


def test_rule_removes_text_before_versions_are_compared(install: Install) -> None:
    install(ENTRY_POINTS, SOURCE)
    assert apply_content_rules(["The tide level 4", "", "at\tnoon"]) == ["The tide", "", "at noon"]
    assert fingerprint("low") == fingerprint("high")
    assert compute_rules_checksum() != 0


def test_broken_rules_are_named_once(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    install(ENTRY_POINTS, SOURCE)
    with caplog.at_level(logging.WARNING):
        apply_content_rules(["a line", "another"])
    assert sorted(record.message for record in caplog.records) == [
        "a content rule is not applied: the plugin 'missing' of test-plugin 1.2 cannot be loaded: AttributeError:"
        " module 'example_plugin_module' has no attribute 'missing'",
        "the plugin 'failing' of test-plugin 1.2 failed and changed nothing: ValueError: no",
    ]
