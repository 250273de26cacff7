"""How long tests wait for what comes."""

from __future__ import annotations

# Seconds that no test needs: what is waited for comes earlier, on a busy machine too.
DEADLINE = 60.0
