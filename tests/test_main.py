"""Test the entry point of the program."""

import sys

import pytest

from sanderling.__main__ import main


def test_windows_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main() == 4
    assert "Windows is not supported" in capsys.readouterr().err
