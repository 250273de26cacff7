"""A carrier that a test disturbs: it passes on what goes to a program and what comes from it.

`disturbed.py cut PIDFILE PROGRAM...` can be cut. It refuses while there is a file PIDFILE.down. SIGUSR1: of the next
bytes half are passed on, and both ends are closed. SIGSTOP is a network that falls silent.

`disturbed.py lie SEED PROGRAM...` changes by chance what comes from the program, but not before there is a file
SEED.begin: until then a tab can be made.
"""

from __future__ import annotations

import os
import random
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_BYTES = 65536
_SAID = (
    b"%%output %%0 %s\t.\n" % (b"9" * 5000),
    b"%output %0 1\tp\tx\n1\ts\n",
    b"%output %0 \\012\\012\\0111\\011.\n",
    b"%output %1 \\033]7770;E;0123456789abcdef;0;/;0123456789abcdef\\007\n",
    b"%output %1 \\033]7770;P;0123456789abcdef;1;1;0;/;0123456789abcdef\\007\n",
    b"%output %9999999999 lost\n%output nonsense\n",
    b"%window-close @1\n%unlinked-window-close @1\n%layout-change @1 x,1x1,0,0,9 x *\n",
    b"%begin 1 2 3\n%end 1 2\n%error 1 2 3\n",
    b"%session-changed $0 ../../etc\n%client-detached x\n%window-renamed @1 \xff\xfe\n",
    b"\x00\xff\n\n\n",
    b"%output %1 " + b"A" * (1 << 20) + b"\n",
)


def pass_on(words: Sequence[str], alter: Callable[[bytes, bool], bytes], closing: Sequence[bool] = ()) -> None:
    """Run the program until one side ends, or `closing` holds something; `alter` gets a piece and whether it is its."""
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdin is not None
    assert program.stdout is not None
    ways = {0: program.stdin.fileno(), program.stdout.fileno(): 1}
    with selectors.DefaultSelector() as ready:
        for source in ways:
            ready.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                data = os.read(key.fd, _BYTES)
                rest = alter(data, key.fd != 0) if data else data
                while rest:
                    rest = rest[os.write(ways[key.fd], rest) :]
                if closing or not data:
                    return


def changed(data: bytes, chance: random.Random) -> bytes:
    """What is said in place of a piece."""
    match chance.randrange(6):
        case 0:
            at = chance.randrange(len(data))
            return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case 1:
            return data.replace(b"%", b"%%", 1)
        case 2:
            lines = data.split(b"\n")
            return b"\n".join(b"wrong @x % $" if line and line[:1] != b"%" else line for line in lines)
        case 3:
            return chance.choice(_SAID) + data
        case _:
            return data


def cut(pid_file: str, *words: str) -> None:
    if Path(pid_file + ".down").exists():
        sys.exit("proxy: the connection was refused")
    closing: list[bool] = []
    signal.signal(signal.SIGUSR1, lambda *_: closing.append(True))
    Path(pid_file).write_text(str(os.getpid()))
    pass_on(words, lambda data, _: data[: len(data) // 2] if closing else data, closing)


def lie(seed: str, *words: str) -> None:
    chance, begin = random.Random(seed), Path(f"{seed}.begin")
    pass_on(words, lambda data, theirs: changed(data, chance) if theirs and begin.exists() else data)


{"cut": cut, "lie": lie}[sys.argv[1]](*sys.argv[2:])
