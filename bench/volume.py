"""Volume: the parser over recorded sessions, the tail of a big log, and of one that many short commands filled."""

from __future__ import annotations

import contextlib
import resource
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.contenders import clean_environment, temporary_home
from bench.scenario import Report, Scale, Target
from muxwire import open_terminals
from muxwire.logs.read import View, last_lines
from muxwire.protocol.control import ControlProtocol
from muxwire.shell import TYPED_LINES

TRANSCRIPTS = Path(__file__).parent.parent / "tests" / "transcripts"
# Long enough that a garbage collection does not decide.
PARSE_BYTES, PARSE_BYTES_SHORT = 64 << 20, 1 << 20
# What one read of the control pipe brings under load.
CHUNK = 256 << 10
LINES = 500
# A read of 500 lines may need a few blocks of the file, whatever its size.
FLAT_MIB = 8
BIG, BIG_SHORT = 2 << 30, 1 << 20
# Short commands, whose marks are most of what their log holds; and how many lines are read then.
SHORT_COMMANDS, SHORT_COMMANDS_SHORT, FEW_LINES, READS = 3000, 5, 10, 20
# What such a read may take, as a multiple of one in a fresh tab.
OF_FRESH = 3.0
# The block a big log is made of: lines as a server writes them.
LOG_BLOCK = b"".join(b"2026-01-01T00:00:00 worker %06d handled a request in 12 ms\r\n" % i for i in range(16384))


@dataclass(frozen=True)
class ParseRate:
    """How fast the control stream becomes events."""

    megabytes_per_second: float
    bytes: int


@dataclass(frozen=True)
class Tail:
    """How long the last lines of a log take."""

    milliseconds: float
    size: int
    growth: float


def output_lines() -> bytes:
    """Every %output line of the recorded sessions."""
    found = [
        line + b"\n"
        for path in sorted(TRANSCRIPTS.glob("*.ctl"))
        for line in path.read_bytes().splitlines()
        if line.startswith(b"%output ")
    ]
    return b"".join(found) or b"%output %0 " + b"x" * 2000 + b"\n"


def parse_rate(size: int) -> ParseRate:
    """Parse recorded output over and over."""
    stream = output_lines()
    stream *= max(1, CHUNK // len(stream))
    protocol = ControlProtocol()
    done, begun = 0, time.perf_counter()
    while done < size:
        protocol.receive_data(stream)
        protocol.events_received()
        done += len(stream)
    return ParseRate(done / (time.perf_counter() - begun) / 1e6, done)


def tail_of_big_log(size: int) -> Tail:
    """Make a log of about `size` bytes and read its end a few times; the median counts."""
    with tempfile.TemporaryDirectory(prefix="mwb") as folder:
        path = Path(folder) / "pane-@1.log"
        with path.open("wb") as log:
            while log.tell() < size:
                log.write(LOG_BLOCK)
        times = []
        before = peak(anew=True)
        for _ in range(5):
            begun = time.perf_counter()
            found = last_lines(path, LINES, View(TYPED_LINES, final=True))
            times.append((time.perf_counter() - begun) * 1000)
            assert found.returned_lines == LINES
        return Tail(sorted(times)[2], path.stat().st_size, peak() - before)


def peak(*, anew: bool = False) -> float:
    """The most memory that this process has had, in MiB; `anew` forgets what was before (proc(5), `clear_refs`)."""
    if anew:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    try:
        status = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


async def reads(commands: int) -> tuple[float, float]:
    """Milliseconds of reading a few lines of a fresh tab, and of one in which so many commands ran."""
    with temporary_home() as name:
        home = Path(name)
        async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
            tab = await terminals.create_tab(shell="bash")
            await tab.execute(f"seq {FEW_LINES}")
            found = []
            for more in (0, commands):
                for _ in range(more):
                    await tab.execute("true")
                times = []
                for _ in range(READS):
                    begun = time.perf_counter()
                    await terminals.read_logs(tab.window_id, lines=FEW_LINES)
                    times.append((time.perf_counter() - begun) * 1000)
                found.append(statistics.median(times))
    return found[0], found[1]


async def run(scale: Scale) -> Report:
    """A log of 2 GB is made and read; recorded control streams are parsed over and over."""
    commands = scale.of(SHORT_COMMANDS, SHORT_COMMANDS_SHORT)
    fresh, used = await reads(commands)
    tail = tail_of_big_log(scale.of(BIG, BIG_SHORT))
    parsed = parse_rate(scale.of(PARSE_BYTES, PARSE_BYTES_SHORT))
    return Report(
        "logs",
        "Volume",
        ("what", "figure", "unit"),
        (
            (f"last {LINES} lines of a log of {tail.size >> 20} MiB", tail.milliseconds, "ms"),
            ("growth of memory by that", tail.growth, "MiB"),
            (f"last {FEW_LINES} lines of a fresh tab", fresh, "ms"),
            (f"the same after {commands:,} short commands", used, "ms"),
            ("control stream parsed, recorded sessions", parsed.megabytes_per_second, "MB/s"),
        ),
        (
            Target(f"last {LINES} lines of a log of {tail.size >> 20} MiB", tail.milliseconds, 5, "ms"),
            Target(
                f"last {FEW_LINES} lines after {commands:,} short commands, over a fresh tab's", used / fresh, OF_FRESH
            ),
            Target("growth of memory by that", tail.growth, FLAT_MIB, "MiB"),
        ),
    )
