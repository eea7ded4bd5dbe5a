"""Ctrl-C goes to everybody at the terminal, and so does its end; those we start leave both to us."""

import signal
import subprocess
import sys

import pytest

from sanderling.runtime.signals import block_signals

SAY_AND_WAIT = "print('up', flush=True); input(); print('well', flush=True)"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_process_started_unheard_survives_before_it_can_think_of_it(number: signal.Signals) -> None:
    with block_signals():
        child = subprocess.Popen(
            [sys.executable, "-c", SAY_AND_WAIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    child.send_signal(number)
    said, _ = child.communicate("\n", timeout=60)
    assert (said, child.returncode) == ("well\n", 0)


def test_ctrl_c_pressed_meanwhile_reaches_us_at_the_end() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with block_signals():
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
