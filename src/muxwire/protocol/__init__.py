"""The wire: tmux control mode as bytes in, events out, commands to bytes. No clock, no file, no await."""

from __future__ import annotations
