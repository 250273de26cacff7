"""One worker's share of many tasks, each in a fresh tab: what a job of Kubernetes, Slurm or Ray runs.

    WORKERS=4 JOB_COMPLETION_INDEX=0 python share.py tasks.txt

Every line of the file is a command. The worker runs every fourth line, from its own number on, and prints a line of
JSON for each: the command, its exit code, its output.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import muxwire

# Tabs at once, all of one tmux server. From 200 on tmux itself takes longer for each command.
TABS = 100
SECONDS = 3600


async def run_share(commands, tabs=TABS):
    """Run the commands, so many at once; return a dictionary for each."""
    room, done = asyncio.Semaphore(tabs), []
    async with muxwire.open_terminals(environ={**os.environ, "MUXWIRE_TABS": str(tabs)}) as terminals:

        async def run(command):
            async with room:
                tab = await terminals.create_tab()
                result = await tab.execute(command, timeout=SECONDS)
                done.append({"command": command, "exit_code": result.exit_code, "output": result.output})
                await tab.close(force=True)

        async with asyncio.TaskGroup() as tasks:
            for command in commands:
                tasks.create_task(run(command))
    return done


def number():
    """Which worker this is, by the engine that started it."""
    names = ("JOB_COMPLETION_INDEX", "SLURM_PROCID")
    return int(next((os.environ[name] for name in names if name in os.environ), "0"))


def main():
    workers = int(os.environ.get("WORKERS") or os.environ.get("SLURM_NTASKS") or "1")
    commands = Path(sys.argv[1]).read_text().splitlines()[number() :: workers]
    for one in asyncio.run(run_share(commands, int(os.environ.get("TABS", TABS)))):
        print(json.dumps(one), flush=True)


if __name__ == "__main__":
    main()
