"""The words that reach a machine: each program's are quoted for the shell before it, and none of them is an option."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from muxwire import Carrier, InvalidArgument
from muxwire.far.carriers import STAGE_1


@pytest.mark.parametrize(
    ("carrier", "words"),
    [
        (Carrier(["srun"]), ["srun", "sh", "-c", STAGE_1]),
        (Carrier(["ssh", "box"]), ["ssh", "box", f"exec sh -c '{STAGE_1}'"]),
        (Carrier(["kssh", "box"], login_shell=True), ["kssh", "box", f"exec sh -c '{STAGE_1}'"]),
        (
            Carrier(["docker", "exec", "-i", "c"], user="1000:1000"),
            ["docker", "exec", "--user=1000:1000", "-i", "c", "sh", "-c", STAGE_1],
        ),
        (
            Carrier(["srun"], user="app"),
            ["srun", "su", "-s", "/bin/sh", "-c", f"exec sh -c '{STAGE_1}'", "app"],
        ),
        (
            Carrier([["ssh", "box"], ["docker", "exec", "-i", "it's"]], user="app"),
            ["ssh", "box", f"exec docker exec --user=app -i 'it'\"'\"'s' sh -c '{STAGE_1}'"],
        ),
        (
            Carrier([["docker", "exec", "-i", "c"], ["ssh", "box"], ["env", "A=b c"]]),
            ["docker", "exec", "-i", "c", "ssh", "box", f"exec env 'A=b c' sh -c '{STAGE_1}'"],
        ),
    ],
)
def test_each_program_is_quoted_for_the_shell_before_it(carrier: Carrier, words: list[str]) -> None:
    assert list(carrier.command) == words


@pytest.mark.parametrize(
    "wrong",
    [
        Carrier,
        lambda: Carrier([]),
        lambda: Carrier([[]]),
        lambda: Carrier("ssh box"),
        lambda: Carrier(["ssh", "a\0b"]),
        lambda: Carrier(["srun"], user="-x"),
        lambda: Carrier(["srun"], env={"A=": "b"}),
        lambda: Carrier(["srun"], cwd="a\nb"),
    ],
)
def test_what_can_never_work_is_refused(wrong: Callable[[], Carrier]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()
