"""Print what each package weighs: `python -m tests.house`."""

from __future__ import annotations

from tests.house.weights import main

main()
