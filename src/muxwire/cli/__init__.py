"""The command line: one module for each group of verbs, and `main`, which runs one of them."""

# General layout:
#   command_line   the parser, what a verb returns, how errors are said
#   faces          the verbs that start another face: serve, demo
#   every other    a group of verbs; `add(verbs)` adds its parsers, and imports what its verbs need when one is run
from __future__ import annotations

from muxwire.cli.command_line import main as main

__all__ = ("main",)
