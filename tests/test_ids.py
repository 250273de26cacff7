"""Which machine a tab's name is about."""

from __future__ import annotations

import pytest

from muxwire.ids import host_of


@pytest.mark.parametrize(
    ("target", "host", "rest"),
    [
        ("web-1/@3", "web-1", "@3"),
        ("user@box/%12", "user@box", "%12"),
        ("k8s:prod/ns/pod/app/@1", "k8s:prod/ns/pod/app", "@1"),
        ("@3", "", "@3"),
        ("2/@3", "", "2/@3"),
        ("/@3", "", "/@3"),
        ("web-1/build", "", "web-1/build"),
        ("web-1/@", "", "web-1/@"),
        ("web-1/@3x", "", "web-1/@3x"),
        ("web-1/$3", "", "web-1/$3"),
        ("", "", ""),
    ],
)
def test_a_host_stands_before_an_id(target: str, host: str, rest: str) -> None:
    assert host_of(target) == (host, rest)
