"""Which tests run at every commit, which before a merge, and which at night.

`python -m tests` runs the first tier, `--all` the first two, `--nightly` everything. pytest without `--tier` runs
whatever it is given.
"""

from __future__ import annotations

import re

COMMIT, MERGE, NIGHT = range(3)
TIERS = {"commit": COMMIT, "merge": MERGE, "night": NIGHT}

# Files and directories of tests, of which the longest that fits decides; what is not named runs at every commit.
PLACES = {
    "adapters": MERGE,
    "bench": MERGE,
    "cli": MERGE,
    "docs": MERGE,
    "docs/test_install.py": NIGHT,  # builds, and installs in every way that the pages name
    "docs/test_readme.py": COMMIT,
    "docs/test_generated.py": COMMIT,
    "doctor": MERGE,
    "far": MERGE,
    "far/test_carrier.py": COMMIT,
    "far/test_host.py": COMMIT,
    "far/test_hosts_file.py": COMMIT,
    "far/test_resending.py": COMMIT,
    "faults": MERGE,
    "hosts": MERGE,
    "library/adopted": MERGE,
    "library/named": MERGE,
    "library/test_claims.py": NIGHT,
    "library/test_random_commands.py": NIGHT,
    "nightly": NIGHT,
    "nightly/test_truth.py": COMMIT,
    "testing": MERGE,
    "test_other_tmux.py": NIGHT,
}

# A live test proves in bash that the parts are joined. In the other shells, one file does at every commit.
OTHER_SHELLS = frozenset(("zsh", "fish", "dash", "busybox", "ksh", "sh"))
# The tests of the server once more, served by the process that owns a named instance; tests/owner has its own.
BY_OWNER = "pump"
IN_EVERY_SHELL = "library/test_scenarios.py"
LIVE = ("library", "mcp", "sync", "repl", "client", "logs", "host", "pane", "tabs", "tmux")


def tier_of(path: str, case: str = "") -> int:
    """The tier of a test by its file, relative to `tests`, and by the part of its name in brackets."""
    tier = max(
        ((len(place), tier) for place, tier in PLACES.items() if path == place or path.startswith(place + "/")),
        default=(0, COMMIT),
    )[1]
    if tier == COMMIT and path.startswith(LIVE) and path != IN_EVERY_SHELL:
        once_more = not {*OTHER_SHELLS, BY_OWNER}.isdisjoint(re.split(r"[^a-z]+", case))
        return MERGE if once_more else COMMIT
    return tier
