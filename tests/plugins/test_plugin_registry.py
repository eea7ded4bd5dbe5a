"""Plugins are found by entry points; a broken one is named and affects no other."""

import json

import pytest
from tests.support.plugins import Install

from sanderling.changes.alerts import open_sender
from sanderling.cli import main
from sanderling.errors import UsageError
from sanderling.frontier.ordering.ordering_registry import parse_ordering
from sanderling.monitor.page_fields import extract_fields, parse_field_definitions
from sanderling.plugins.plugin_registry import PluginGroup, has_plugin, list_plugin_names, list_plugins, load_plugin
from sanderling.revisit.policies import find_policy
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord

SOURCE = """
def reject(url, depth):
    return "too long" if len(url) > 50 else ""

def notify(target, title, body):
    if target.endswith("broken"):
        raise ValueError("no")
    messages.append((target, title, body))

messages = []
number = 5
"""
ENTRY_POINTS = """
[sanderling.url_filters]
short = example_plugin_module:reject
broken = example_plugin_module:missing
other = missing_module:reject
number = example_plugin_module:number

[sanderling.notifiers]
memory = example_plugin_module:notify

[sanderling.revisit_policies]
odd = example_plugin_module:number
"""


def test_plugins_are_listed_with_their_errors(install: Install) -> None:
    install(ENTRY_POINTS, SOURCE)
    found = {(plugin.group, plugin.name): plugin for plugin in list_plugins() if plugin.package == "test-plugin"}
    assert found[PluginGroup.URL_FILTERS, "short"].error == ""
    assert found[PluginGroup.URL_FILTERS, "short"].version == "1.2"
    errors = {name: plugin.error for (_, name), plugin in found.items() if plugin.error}
    assert errors == {
        "broken": "the plugin 'broken' of test-plugin 1.2 cannot be loaded: AttributeError: module"
        " 'example_plugin_module' has no attribute 'missing'",
        "other": "the plugin 'other' of test-plugin 1.2 cannot be loaded: ModuleNotFoundError: No module named"
        " 'missing_module'",
        "number": "the plugin 'number' of test-plugin 1.2 is not callable: example_plugin_module:number",
    }


def test_command_lists_plugins_and_fails_if_one_is_broken(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(ENTRY_POINTS, SOURCE)
    assert main(["plugins"]) == 4
    out = capsys.readouterr().out
    assert "url_filters" in out
    assert "test-plugin 1.2" in out
    assert main(["plugins", "--json"]) == 4
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["name"] for row in rows} >= {"short", "broken", "memory"}


def test_plugin_is_imported_only_when_it_is_used(install: Install) -> None:
    install("[sanderling.url_filters]\nshort = example_plugin_module:reject\n", "raise RuntimeError('imported')")
    assert list_plugin_names(PluginGroup.URL_FILTERS) == ("short",)
    assert has_plugin(PluginGroup.URL_FILTERS, "short")
    with pytest.raises(UsageError, match="cannot be loaded: RuntimeError: imported"):
        load_plugin(PluginGroup.URL_FILTERS, "short")


def test_unknown_plugin_is_an_error_with_the_known_names(install: Install) -> None:
    install(ENTRY_POINTS, SOURCE)
    with pytest.raises(UsageError, match=r"no plugin 'shrot' among the url filters; installed: .*short"):
        load_plugin(PluginGroup.URL_FILTERS, "shrot")
    with pytest.raises(UsageError, match="among the extractors"):
        parse_field_definitions(["a=plugin:nothing"])


def test_notifier_sends_to_its_scheme(install: Install) -> None:
    install(ENTRY_POINTS, SOURCE)
    assert open_sender(["memory://a"]).notify("body", "title") is True
    notify = load_plugin(PluginGroup.NOTIFIERS, "memory")
    assert notify.__globals__["messages"] == [("memory://a", "title", "body")]
    assert open_sender(["memory://broken"]).notify("body", "title") is False


def test_failing_extractor_is_named(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    install("[sanderling.extractors]\nfails = example_plugin_module:fail\n", "def fail(source): raise KeyError('a')")
    (field,) = parse_field_definitions(["a=plugin:fails"])
    record = StoredRecord("response", RecordLocation("", 0, 0), (), 200, (("Content-Type", "text/html"),), b"<p>words")
    assert extract_fields(record, "https://a.example/", [field, field]) == {"a": None}
    assert [record.message for record in caplog.records] == [
        "the field a could not be read by plugin:fails: KeyError: 'a'"
    ]


def test_policy_of_a_wrong_type_is_refused(install: Install) -> None:
    install(ENTRY_POINTS, SOURCE)
    assert find_policy("none") is None
    with pytest.raises(UsageError, match="'odd' is not a RevisitPolicy"):
        find_policy("odd")


def test_unknown_ordering_is_still_an_error() -> None:
    with pytest.raises(UsageError, match="unknown ordering 'fastest'"):
        parse_ordering("fastest")
