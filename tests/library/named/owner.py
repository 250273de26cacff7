"""The owner of a named instance, to be killed: `python owner.py NAME STATE COMMAND...`.

It runs each command in a tab of its own, prints the tab's window and the command's id, then `ready`, and stays.
"""

from __future__ import annotations

import sys

import anyio

from muxwire.library.opening import own_terminals


async def main(name: str, state: str, *commands: str) -> None:
    async with own_terminals(name, state_dir=state) as terminals:
        for command in commands:
            tab = await terminals.create_tab(name=f"tab {command[:8]}")
            result = await tab.execute(command, async_=True)
            print(tab.window_id, result.command_id, flush=True)
        print("ready", flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(lambda: main(*sys.argv[1:]))
