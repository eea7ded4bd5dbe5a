"""SIGINT and SIGHUP reach all processes of a terminal; child processes block them."""

import signal
import subprocess
import sys

import pytest

from sanderling.runtime.signals import block_signals

CHILD = "print('started', flush=True); input(); print('finished', flush=True)"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_child_process_started_with_blocked_signals_survives(number: signal.Signals) -> None:
    with block_signals():
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    child.send_signal(number)
    output, _ = child.communicate("\n", timeout=60)
    assert (output, child.returncode) == ("finished\n", 0)


def test_pending_signal_is_delivered_at_the_end_of_the_block() -> None:
    received: list[int] = []
    previous_handler = signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        with block_signals():
            signal.raise_signal(signal.SIGINT)
            assert received == []
        assert received == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, previous_handler)
