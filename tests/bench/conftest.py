"""The bench is part of no package: it is imported from the tree."""

from __future__ import annotations
