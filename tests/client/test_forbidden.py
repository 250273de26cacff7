"""Commands that crash, freeze or desynchronise tmux are refused before anything is written."""

from __future__ import annotations

import pytest

from muxwire.client.forbidden import RULES, commands_in, refuse_forbidden, refuse_line
from muxwire.errors import ForbiddenCommand

FORBIDDEN = (
    "respawn-pane -k -t %1",
    "respawnp",
    "respawn-p",
    "respawn-window",
    "respawnw",
    "set-option -g window-size manual",
    "set -g window-size manual",
    "set-option -wg window-si man",
    "set-window-option -g window-size manual",
    "setw -g window-size manual",
    "select-layout main",
    "select-layout -t %1 main-horizontal-mirrored",
    "select-layout -t %1 even",
    "selectl beef",
    "select-layout -",
    "refresh-client -A %1:off",
    "refresh -A %1:off",
    "refresh-client -f no-output",
    "refresh-client -f !no-output",
    "switch-client -t x",
    "switchc -n",
    "attach-session -t x",
    "attach",
    "new-session -s x",
    "new",
    "new-session -A -s x",
    "move-window -t x:",
    "movew -s 1 -t 2",
    "move-window -r",
    "unlink-window -t @1",
    "unlinkw",
    "run-shell date",
    "run-shell -C",
    "run-shell -b -C refresh-client",
    "run date",
    "wait-for channel",
    "wait channel",
    "wait-for -L channel",
    "command-prompt",
    "confirm-before kill-server",
    "confirm kill-server",
    "display-menu a b c",
    "menu",
    "display-popup",
    "popup",
    "display-panes",
    "displayp",
    "suspend-client",
    "suspendc",
    "lock-client",
    "lockc",
    "lock-session",
    "locks",
    "lock-server",
    "lock",
    "source-file x",
    "source x",
    "load-buffer -",
    "loadb -b x -",
    "save-buffer -",
    "saveb -",
    "if-shell true refresh-client refresh-client",
    "if -F 1 list-windows",
    "if-shell -F 1 respawn-pane list-windows",
    "if-shell -F 1 list-windows wait",
    "if-shell -F 1 list-windows list-windows;list-panes",
)

ALLOWED = (
    "",  # a command without a word
    "new-session -d -s x",
    "new-session -ds x",
    "new-window -d",
    "set-option -g status off",
    "set-option -w window-size manual",
    "set-option -g window-size latest",
    "set -g history-limit 1",
    "select-layout -E",
    "select-layout -t %1 tiled",
    "select-layout -t %1",
    "select-layout -t %1 b25d,80x24,0,0,0",
    "refresh-client -A %1:pause",
    "refresh-client -C 80x24",
    "unlink-window -t x:1",
    "run-shell -b date",
    "wait-for -S channel",
    "wait-for -U channel",
    "display-panes -b",
    "display -p x",
    "display-message x",
    "load-buffer x",
    "if-shell -F 1 list-windows list-panes",
    "if-shell -F -t %1 1 list-windows list-panes",
    "if-shell -Ft %1 1 list-windows list-panes",
    "kill-session -t x",
    "kill-server",
    "send-keys -l wait-for",
    "set-buffer respawn-pane",
    "list-windows",
    "show-options",
)


@pytest.mark.parametrize("line", FORBIDDEN)
def test_is_refused_with_its_reason(line: str) -> None:
    with pytest.raises(ForbiddenCommand, match=r"is never sent like this: ."):
        refuse_forbidden([line.split()])
    with pytest.raises(ForbiddenCommand):
        refuse_forbidden([["list-windows"], line.encode().split()])


@pytest.mark.parametrize("line", ALLOWED)
def test_is_sent(line: str) -> None:
    refuse_forbidden([line.split()])
    refuse_forbidden([line.encode().split()])


def test_every_rule_says_what_to_do() -> None:
    assert [rule.name for rule in RULES if not rule.remedy] == []


def test_every_rule_is_tried() -> None:
    tried = {line.split()[0] for line in FORBIDDEN}
    assert {rule.name for rule in RULES} <= tried
    assert {rule.alias for rule in RULES} <= tried


@pytest.mark.parametrize("name", ["kill-session", "kill-ses"])
def test_a_session_is_killed_alone(name: str) -> None:
    with pytest.raises(ForbiddenCommand, match="with other commands"):
        refuse_forbidden([["select-window"], [name]])


TYPED = ("neww -d ; respawnp", "bind x { display-message a ; wait-for x }", "'respawn-pane'", "if-shell 'true' a b",
         "if -F 1 'neww -d ; respawnp' ''", "kill-session -t x ; list-windows", "{respawnp}")  # fmt: skip


@pytest.mark.parametrize("line", TYPED)
def test_a_typed_line_that_holds_one_is_refused(line: str) -> None:
    with pytest.raises(ForbiddenCommand):
        refuse_line(line)


@pytest.mark.parametrize(
    "line",
    ["display-message -p 'a ; respawn-pane'", "if -F 1 { display-message -p a ; list-keys }", "# respawn", "X=y",
     "display-message \\; respawnp", "set-buffer \"it's ; wait-for x\"", "wait-for -S x"],
)  # fmt: skip
def test_what_a_typed_line_only_quotes_is_not(line: str) -> None:
    refuse_line(line)


def test_the_commands_of_a_typed_line() -> None:
    assert commands_in("neww -d 'a ; b'; x\\ y \"z\\\"\" { c }") == [
        [b"neww", b"-d", b"a ; b"], [b"x y", b'z"'], [b"c"],
    ]  # fmt: skip
