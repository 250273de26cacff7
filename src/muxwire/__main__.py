"""`python -m muxwire` is `muxwire`."""

from __future__ import annotations

from muxwire_client import main

main()
