"""Every scenario, by name, in the order in which they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.growth import run as growth
from bench.idle import run as idle
from bench.latency import run as latency
from bench.operations import run as operations
from bench.peers.scenario import run as peers
from bench.polling import run as polling
from bench.snapshots import run as screen
from bench.startup import run as startup
from bench.tabs import run as tabs
from bench.throughput import run as throughput
from bench.volume import run as logs
from bench.waits import run as waits

if TYPE_CHECKING:
    from bench.scenario import Scenario

SCENARIOS: dict[str, Scenario] = {
    "latency": latency,
    "polling": polling,
    "peers": peers,
    "startup": startup,
    "throughput": throughput,
    "tabs": tabs,
    "idle": idle,
    "screen": screen,
    "logs": logs,
    "waits": waits,
    "operations": operations,
    "growth": growth,
}
