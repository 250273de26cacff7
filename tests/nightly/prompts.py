"""Start-up files as people have them: of git, of pyenv, of the prompt programs and plugins that this machine has."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from tests.users import keep_fish_quiet

if TYPE_CHECKING:
    from collections.abc import Iterator

GIT_PROMPT = Path("/usr/lib/git-core/git-sh-prompt")
LIQUIDPROMPT = Path("/usr/share/liquidprompt/liquidprompt")
POWERLINE = Path("/usr/share/powerline/bindings")
POWERLEVEL9K = Path("/usr/share/powerlevel9k/powerlevel9k.zsh-theme")
PYENV = Path.home() / ".pyenv/bin/pyenv"
DIRENV = Path("/usr/bin/direnv")
FZF = Path("/usr/share/doc/fzf/examples/key-bindings")
VTE = Path("/etc/profile.d/vte-2.91.sh")
SUGGESTIONS = Path("/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh")
HIGHLIGHTING = Path("/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh")


@final
@dataclass(frozen=True, slots=True)
class Prompt:
    """A shell's start-up file, written into a home: what it draws takes from nothing to some tenths of a second."""

    name: str
    shell: str
    file: str
    text: str
    needs: Path | None = None


# Busy prompts: `sleep` is a slow disk or a large repository.
PROMPTS = (
    Prompt("bash, plain", "bash", ".bashrc", "PS1='\\w\\$ '\n"),
    Prompt("bash, busy", "bash", ".bashrc", "PROMPT_COMMAND='git status >/dev/null; sleep 0.2'\n"),
    Prompt("bash, substitution", "bash", ".bashrc", "PS1='$(sleep 0.1; git branch --show-current) \\$ '\n"),
    Prompt(
        "bash, git", "bash", ".bashrc",
        f"GIT_PS1_SHOWDIRTYSTATE=1 GIT_PS1_SHOWUNTRACKEDFILES=1\n. {GIT_PROMPT}\nPS1='\\w$(__git_ps1 \" (%s)\")\\$ '\n",
        GIT_PROMPT,
    ),
    Prompt(
        "bash, pyenv", "bash", ".bashrc", f'eval "$({PYENV} init -)"\neval "$({PYENV} virtualenv-init -)"\n', PYENV
    ),
    Prompt("bash, liquidprompt", "bash", ".bashrc", f". {LIQUIDPROMPT}\n", LIQUIDPROMPT),
    Prompt("bash, powerline", "bash", ".bashrc", f". {POWERLINE}/bash/powerline.sh\n", POWERLINE),
    Prompt("bash, direnv", "bash", ".bashrc", f'eval "$({DIRENV} hook bash)"\n', DIRENV),
    Prompt("bash, fzf", "bash", ".bashrc", f". {FZF}.bash\n", FZF.with_suffix(".bash")),
    Prompt("bash, VTE", "bash", ".bashrc", f"VTE_VERSION=6800\n. {VTE}\n", VTE),
    Prompt("bash, vi", "bash", ".inputrc", "set editing-mode vi\nset show-mode-in-prompt on\n"),
    Prompt("zsh, plain", "zsh", ".zshrc", "PS1='%~ %# '\n"),
    Prompt("zsh, suggestions", "zsh", ".zshrc", f"PS1='%~ %# '\n. {SUGGESTIONS}\n", SUGGESTIONS),
    Prompt("zsh, highlighting", "zsh", ".zshrc", f"PS1='%~ %# '\n. {HIGHLIGHTING}\n", HIGHLIGHTING),
    Prompt("zsh, busy", "zsh", ".zshrc", "precmd() { git status >/dev/null; sleep 0.2 }\n"),
    Prompt(
        "zsh, git", "zsh", ".zshrc",
        f". {GIT_PROMPT}\nsetopt promptsubst\nPS1='%~$(__git_ps1 \" (%s)\") %# '\n", GIT_PROMPT,
    ),
    Prompt("zsh, powerlevel9k", "zsh", ".zshrc", f". {POWERLEVEL9K}\n", POWERLEVEL9K),
    Prompt("zsh, liquidprompt", "zsh", ".zshrc", f". {LIQUIDPROMPT}\n", LIQUIDPROMPT),
    Prompt("fish, plain", "fish", ".config/fish/config.fish", ""),
    Prompt(
        "fish, git", "fish", ".config/fish/config.fish",
        "function fish_prompt; sleep 0.1; echo -n (prompt_pwd)(fish_git_prompt)'> '; end\n",
    ),
    Prompt("ksh, plain", "ksh", ".kshrc", ""),
    Prompt("ksh, substitution", "ksh", ".kshrc", "PS1='$(sleep 0.1; echo ksh)> '\n"),
    Prompt("dash, substitution", "dash", ".shrc", "PS1='$(sleep 0.1; echo dash)> '\n"),
)  # fmt: skip


def home_of(prompt: Prompt, folder: Path) -> Path:
    """Make a home with that prompt, and in its directory `work` a git repository with a changed file."""
    home = folder / prompt.name.replace(", ", "-")
    path = home / prompt.file
    path.parent.mkdir(parents=True)
    path.write_text(prompt.text)
    keep_fish_quiet(home)
    subprocess.run(["git", "init", "-q", home / "work"], check=True)
    (home / "work" / "file").write_text("changed\n")
    return home


def available() -> Iterator[Prompt]:
    """The prompts whose shells and programs are on this machine."""
    return (one for one in PROMPTS if shutil.which(one.shell) and (one.needs is None or one.needs.exists()))
