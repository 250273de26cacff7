"""Every scenario, by name, in the order in which they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.churn import run as churn
from bench.claims import run as claims
from bench.frameworks import run as frameworks
from bench.growth import run as growth
from bench.harness import run as harness
from bench.idle import run as idle
from bench.jobs import run as jobs
from bench.latency import run as latency
from bench.many import run as many
from bench.operations import run as operations
from bench.over_ssh import run as ssh
from bench.peers.scenario import run as peers
from bench.persistent import run as persistent
from bench.plain import run as plain
from bench.polling import run as polling
from bench.remote import run as remote
from bench.snapshots import run as screen
from bench.startup import run as startup
from bench.tabs import run as tabs
from bench.throughput import run as throughput
from bench.verbs import run as verbs
from bench.volume import run as logs
from bench.waits import run as waits
from bench.width import run as width

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
    "width": width,
    "claims": claims,
    "operations": operations,
    "verbs": verbs,
    "persistent": persistent,
    "remote": remote,
    "ssh": ssh,
    "harness": harness,
    "frameworks": frameworks,
    "plain": plain,
    "churn": churn,
    "many": many,
    "growth": growth,
    "jobs": jobs,
}
