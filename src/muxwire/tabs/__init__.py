"""Tabs: how they are made, named, found, listed and closed, their events and their logs."""

from __future__ import annotations
