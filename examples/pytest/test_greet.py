"""Tests of `greet.py` in a real terminal."""

import sys
from pathlib import Path

import pytest

from muxwire.sync import Tab

GREET = f"{sys.executable} {Path(__file__).with_name('greet.py')}"


def test_output_and_exit_code_are_exact(tab: Tab) -> None:
    done = tab.execute(f"echo Ada | {GREET}")
    assert (done.output, done.exit_code) == ("Name? Hello, Ada.\n", 0)


def test_it_asks(tab: Tab) -> None:
    asked = tab.execute(GREET)
    assert asked.state == "interactive"
    tab.send_keys(["Ada", "Enter"])
    done = tab.command_result(wait=10)
    assert done.output.endswith("Hello, Ada.\n")
    assert done.exit_code == 0


def test_an_empty_name_is_an_error(tab: Tab) -> None:
    tab.execute(GREET)
    tab.send_keys("Enter")
    assert tab.command_result(wait=10).exit_code == 2


@pytest.mark.terminal(size=(40, 10))
def test_the_menu(tab: Tab) -> None:
    tab.start_process(f"{GREET} --menu", ready="> tea")
    assert tab.snapshot().lines[:2] == ("> tea", "  coffee")
    tab.send_keys("Down", wait=10)  # until the program waits for the next key
    assert tab.snapshot().lines[:2] == ("  tea", "> coffee")
    tab.send_keys("q")
    assert tab.command_result(wait=10).exit_code == 1
