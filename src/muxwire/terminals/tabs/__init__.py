"""Tabs: how they are made, named, found, listed and closed, and the state and the stream of their panes."""

from __future__ import annotations
