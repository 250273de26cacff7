"""A carrier whose machine lies: `liar.py SEED PROGRAM...` passes on what comes from the program, changed by chance.

Not before the line that follows a file SEED.begin of the working directory: until then a tab can be made.
"""

from __future__ import annotations

import os
import random
import selectors
import subprocess
import sys
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


def main() -> None:
    chance, begin = random.Random(sys.argv[1]), Path(f"{sys.argv[1]}.begin")
    program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdin is not None
    assert program.stdout is not None
    ways = {0: program.stdin.fileno(), program.stdout.fileno(): 1}
    with selectors.DefaultSelector() as ready:
        for source in ways:
            ready.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                data = os.read(key.fd, _BYTES)
                if not data:
                    return
                rest = changed(data, chance) if key.fd and begin.exists() else data
                while rest:
                    rest = rest[os.write(ways[key.fd], rest) :]


if __name__ == "__main__":
    main()
