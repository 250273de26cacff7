"""What these tests share: an instance for one test alone, and homes with start-up files as people have them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import muxwire

# Colours, two lines, a right part drawn by cursor movements, a branch by a function, a clock: all that themes do.
BASH_PROMPT = r"""
HISTSIZE=100
shopt -s histappend checkwinsize
branch() { printf 'main*'; }
right() { printf '\e[s\e[%dC%s\e[u' $((COLUMNS - 12)) '<right>'; }
title() { last=$?; printf '\e]0;title\a'; return $last; }
PROMPT_COMMAND='title; history -a'
PS1='\[$(right)\]\[\e[1;34m\]\w\[\e[0m\] \[\e[35m\]($(branch))\[\e[0m\] \t [$?]\n\[\e[32m\]❯\[\e[0m\] '
PS2='\[\e[33m\]… \[\e[0m\]'
trap 'true' DEBUG
alias ls='ls --color=auto' grep='grep --color=auto'
"""
ZSH_PROMPT = r"""
setopt PROMPT_SUBST SHARE_HISTORY EXTENDED_GLOB INTERACTIVE_COMMENTS AUTO_CD CORRECT
HISTFILE=~/.zsh_history HISTSIZE=100 SAVEHIST=100
autoload -Uz compinit && compinit -u -D
branch() { print -n 'main*' }
precmd() { print -Pn '\e]0;%~\a' }
preexec() { print -Pn '\e]0;run\a' }
bindkey -v
PROMPT=$'%F{blue}%~%f %F{magenta}($(branch))%f %* [%?]\n%F{green}❯%f '
RPROMPT='%F{yellow}<right> %D{%H:%M:%S}%f'
alias ls='ls --color=auto' grep='grep --color=auto'
"""
# What distributions give to a new user.
SKELETON = Path("/etc/skel/.bashrc")


@pytest.fixture(scope="module")
def themed(folder: Path, environ: dict[str, str]) -> dict[str, str]:
    """A user with elaborate start-up files."""
    home = folder / "themed"
    home.mkdir()
    skeleton = SKELETON.read_text() if SKELETON.exists() else ""
    (home / ".bashrc").write_text(skeleton + BASH_PROMPT)
    (home / ".zshrc").write_text(ZSH_PROMPT)
    return environ | {"HOME": str(home)}


Open = Callable[..., AbstractAsyncContextManager[muxwire.Terminals]]


@pytest.fixture
def open_alone(folder: Path, environ: dict[str, str]) -> Open:
    """Open an instance with the clean home; `state_dir` and `environ` may be given."""

    def open_one(**given: Any) -> AbstractAsyncContextManager[muxwire.Terminals]:
        usual: dict[str, Any] = {"state_dir": folder / "state", "environ": environ}
        return muxwire.open_terminals(**usual | given)

    return open_one
