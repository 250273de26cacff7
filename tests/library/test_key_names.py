"""Every key name that we know, with every modifier, gives the bytes that tmux's own send-keys gives."""

from __future__ import annotations

import itertools
import sys

import pytest

from muxwire.library.terminals import Terminals
from muxwire.shell.keys import KeyModes, key_bytes
from tests.deadline import DEADLINE

# Says in hex what it reads, in raw mode.
READER = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, sys.argv[1].encode().decode('unicode_escape').encode() + b'READY')
while True:
    os.write(1, os.read(0, 65536).hex().encode())
"""
NAMED = [
    "Enter", "Escape", "Tab", "Space", "BSpace", "BTab", "Up", "Down", "Left", "Right", "Home", "End", "IC", "Insert",
    "DC", "Delete", "PPage", "PageUp", "PgUp", "NPage", "PageDown", "PgDn", *(f"F{n}" for n in range(1, 13)),
    *(f"KP{sign}" for sign in "/*-+.0123456789"), "KPEnter",
]  # fmt: skip
MODIFIERS = ["", "S-", "M-", "C-", "S-M-", "S-C-", "M-C-", "C-M-", "S-M-C-"]
# Letters of which tmux makes another key with a modifier, and names that are none and so are text.
SINGLE = [
    *(f"{modifier}{key}" for modifier in ("C-", "M-", "C-M-", "M-C-") for key in "abczAZ019!@[\\]^_?/~+=;:',.<>-8(é"),
    *(f"^{key}" for key in "acz[?_"), "S-a", "S-é", "C-", "M-", "Foo", "C-Foo", "enter", "F13", "KP", "KPx", "x", "é",
    "^", "Ctrl-a", "M-Enter", "NotAKey",
]  # fmt: skip
# To us text: tmux reads names in any case, and leaves a modifier out that the letter cannot have.
TEXT = ("enter", "C-é", "C-M-é", "M-C-é", "S-é", "S-a")
# Here tmux 3.3 and 3.7 differ; 3.7 types a half of some names as text.
DISPUTED = (
    "S-Tab", "M-BTab", "S-M-BTab", "M-C-BTab", "C-M-BTab", "S-M-C-BTab", "S-C-Space", "S-M-C-Space", "M-C-Escape",
    "C-M-Escape", "S-M-C-Escape", "M-C-BSpace", "C-M-BSpace", "S-M-C-BSpace",
)  # fmt: skip
# No key gives it; tmux 3.6 types a letter or "|" for some keys of the keypad.
BETWEEN = "€"


@pytest.mark.parametrize("application", [False, True])
async def test_names_give_the_bytes_of_tmux(terminals: Terminals, application: bool) -> None:
    asked = r"\x1b[?1h\x1b=" if application else r"\x1b[?1l\x1b>"
    tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", READER, asked])
    await terminals.wait_for([tab.window_id], until="READY", from_byte=0, timeout=DEADLINE)
    client = (await terminals.server()).client
    begin = tab.next_byte
    known = [*(f"{modifier}{key}" for modifier, key in itertools.product(MODIFIERS, NAMED)), *SINGLE]
    for name in known:
        for answer in client.submit(
            ("send-keys", "-t", tab.pane_id, "--", name), ("send-keys", "-l", "-t", tab.pane_id, BETWEEN)
        ):
            await answer.wait()
    read = b""
    while True:
        raw = tab.pane.stream.ring.read(begin)
        read = bytes.fromhex(raw[: len(raw) // 2 * 2].decode())
        if read.count(BETWEEN.encode()) >= len(known):
            break
        await tab.pane.stream.changed()
    wanted = dict(zip(known, read.split(BETWEEN.encode()), strict=False))
    modes = KeyModes(cursor=application, keypad=application)
    ours = {name: key_bytes(name, modes) or name.encode() for name in known}
    # tmux types nothing for a key that its table lacks, or the name as text; for these ours are what terminals send.
    said = {name: data for name, data in wanted.items() if data and data != name.encode()}
    differ = {name: (ours[name], data) for name, data in said.items() if ours[name] != data}
    differ = {name: both for name, both in differ.items() if name not in (*TEXT, *DISPUTED)}
    if (await terminals.server()).version >= (3, 5):  # with a modifier it types another sign, or the name
        differ = {name: both for name, both in differ.items() if "-KP" not in name}
    if (3, 4) <= (await terminals.server()).version < (3, 6):  # with S and C it types the same as for BTab
        differ = {name: both for name, both in differ.items() if name not in ("S-C-Tab", "S-M-C-Tab")}
    assert not differ
    assert len(said) > len(known) / 3
