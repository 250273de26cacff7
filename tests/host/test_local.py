"""What a client of an instance brings to the tabs that it makes, beside what its owner has."""

from __future__ import annotations

import pytest

from muxwire.host.local import LocalHost

OWNERS = {"HOME": "/", "PATH": "/bin", "LANG": "C.UTF-8", "LC_TIME": "C"}


@pytest.mark.parametrize(
    ("theirs", "brought"),
    [
        (OWNERS, {}),
        ({"HOME": "/", "PATH": "/bin"}, {}),  # the SDK's client gives a server this little
        ({**OWNERS, "PATH": "/opt:/bin", "LC_ALL": "C", "FOO": "1"}, {"PATH": "/opt:/bin", "LC_ALL": "C"}),
        ({"SSH_AUTH_SOCK": "/agent", "DISPLAY": ":0"}, {"SSH_AUTH_SOCK": "/agent", "DISPLAY": ":0"}),
    ],
)
def test_a_client_brings__what_its_owner_has_in_another_way(theirs: dict[str, str], brought: dict[str, str]) -> None:
    assert LocalHost(OWNERS).seen_from("/", theirs).brought == brought
