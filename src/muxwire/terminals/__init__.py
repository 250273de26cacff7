"""Instances, tabs, commands and logs: what the faces are built on."""

from __future__ import annotations
