"""`python -m muxwire` is `muxwire`."""

from __future__ import annotations

import sys

from muxwire.cli import main

sys.exit(main())
