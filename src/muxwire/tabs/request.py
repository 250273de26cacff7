"""What `create_tab` was asked for."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import check_size, checked_environment
from muxwire.tabs.idle import checked_idle
from muxwire.tmux.sessions import checked_session
from muxwire.values import dataclass

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from muxwire.host.host import Host

# What shells are called that may open no file with a slash in its path: RESTRICTED SHELL in bash(1), zsh(1), ksh(1).
_RESTRICTED = ("rbash", "rzsh", "rksh", "rksh93")


@final
@dataclass(frozen=True, slots=True)
class TabRequest:
    """What `create_tab` was asked for, checked before anything is sent."""

    name: str
    cwd: str
    env: dict[str, str]
    login: bool
    shell: str
    command: tuple[str, ...]
    session: str
    size: tuple[int, int] | None
    strip_ansi: bool = False
    idle_timeout: float = 0.0

    @classmethod
    def checked(
        cls,
        host: Host,
        *,
        name: str,
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str],
        login: bool,
        shell: str | None,
        command: Sequence[str] | None,
        session: str | None,
        size: tuple[int, int] | None,
        strip_ansi: bool = False,
        idle_timeout: float | None = None,
    ) -> TabRequest:
        if "\0" in name:
            raise InvalidArgument("the name contains a NUL byte", remedy="leave it out")
        if size is not None:
            check_size(*size)
        if command is not None and (not command or any("\0" in word for word in command)):
            raise InvalidArgument("command must be a list of words without NUL", remedy='for example ["python3", "-q"]')
        program = host.checked_program(command[0], "command") if command else ""
        used = host.checked_program(shell, "shell") if shell else host.default_shell()
        if not command and PurePath(used).name in _RESTRICTED:
            raise InvalidArgument(
                f"{used} is a restricted shell: it may not read muxwire's files, so no command can be run in it",
                remedy="name another shell (`shell`, --shell)",
            )
        return cls(
            name=name,
            cwd=str(host.checked_folder(cwd, "")) if cwd is not None else host.own_folder(),
            env=checked_environment(env),
            login=login,
            shell=used,
            command=(program, *command[1:]) if command else (),
            session=checked_session(session) if session else "",
            size=size,
            strip_ansi=strip_ansi,
            idle_timeout=checked_idle(idle_timeout, "idle_timeout"),
        )
