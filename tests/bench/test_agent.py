"""No job of an agent becomes dearer: its calls, and the characters of its arguments and answers."""

from __future__ import annotations

import shutil

import anyio
import pytest

from bench.agent import JOBS, SLACK, cost_of

DEADLINE = 60
NEEDS = {"vim": "vim", "git rebase -i": "vim", "git add -p": "git", "a remote shell": "script"}


@pytest.mark.anyio
@pytest.mark.parametrize("name", JOBS)
async def test_a_job_costs_no_more_than_it_did(name: str) -> None:
    if shutil.which(NEEDS.get(name, "sh")) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    job, before, limit = JOBS[name]
    with anyio.fail_after(DEADLINE):
        now = await cost_of(job)
    assert now.calls <= limit.calls <= before.calls
    assert now.characters <= limit.characters * SLACK
    assert limit.characters < before.characters
