"""Prompts: what a person may ask a model to do in terminals, said in the steps that work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from mcp import MCPError, types

from muxwire.mcp.instructions import without_unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@final
@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: `arguments` by name with what they mean, `needed` those that must be given.

    It is offered where all of `tools` are; a line that speaks of another tool, or of an argument that was not given, is
    left out where that is absent.
    """

    name: str
    description: str
    arguments: Mapping[str, str]
    needed: Collection[str]
    tools: Collection[str]
    text: str

    def definition(self) -> types.Prompt:
        arguments = [
            types.PromptArgument(name=name, description=meaning, required=name in self.needed)
            for name, meaning in self.arguments.items()
        ]
        return types.Prompt(name=self.name, description=self.description, arguments=arguments)

    def filled(
        self, given: Mapping[str, str], available: Collection[str], known: Collection[str]
    ) -> types.GetPromptResult:
        """Return the message; raises the protocol's error for arguments that are missing or unknown."""
        missing = [name for name in self.needed if not given.get(name)]
        unknown = sorted(set(given).difference(self.arguments))
        if missing or unknown:
            wrong = [*(f"{name} is missing" for name in missing), *(f"{name} is unknown" for name in unknown)]
            raise MCPError(code=types.INVALID_PARAMS, message=f"{self.name}: {', '.join(wrong)}")
        lines = without_unavailable(self.text, available, known).splitlines()
        text = "\n".join(line for line in lines if all(given.get(name) for name in self._named(line)))
        # Not str.format: a command may hold braces, and one that is filled in must not be filled in again.
        pieces = text.split("<<")
        filled = pieces[0] + "".join(
            given.get(name, "") + rest for name, _, rest in (piece.partition(">>") for piece in pieces[1:])
        )
        content = types.TextContent(type="text", text=filled)
        return types.GetPromptResult(
            description=self.description, messages=[types.PromptMessage(role="user", content=content)]
        )

    def _named(self, line: str) -> list[str]:
        return [name for name in self.arguments if f"<<{name}>>" in line]


_TAB = "the tab to use (@N, or its name); a new one if left out"

PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        "run_and_wait",
        "Run a command, wait for its end however long it takes, and report",
        {"command": "the shell command", "window_id": _TAB},
        ("command",),
        ("create_tab", "execute_command", "command_result", "stream_logs_from_tab"),
        """\
Run this command in a terminal tab and wait until it has ended:

<<command>>

Use the tab <<window_id>>.
If no tab was named, open one with create_tab.
1. execute_command with on_timeout "leave" and timeout_ms 30000.
2. While the result says running: command_result with its command_id and wait_ms 30000. Do not run the command again.
3. If state is "interactive", it waits for input: tell me what it asks, and answer only if I said what.
4. If output is truncated and the cause of a failure is not in it, read the rest with stream_logs_from_tab.
Then tell me the exit code, how long it took, and what matters in the output.""",
    ),
    Prompt(
        "watch_dev_server",
        "Start a development server, wait until it is ready, and watch it for errors",
        {"command": "what starts the server", "ready": "the text that says that it is ready", "window_id": _TAB},
        ("command",),
        ("create_tab", "start_process", "wait_for", "read_logs_from_tab"),
        """\
Start this development server in a terminal tab of its own, and leave it running:

<<command>>

Use the tab <<window_id>>.
If no tab was named, open one with create_tab.
It is ready when it prints: <<ready>>
1. start_process with ready: the text it prints when it listens (with ready_regex, something like \
"listening|ready|http://(localhost|127)" if I did not say).
2. If ready is false: read_logs_from_tab, and tell me why it is not.
3. If it is: tell me the address. Keep from_byte.
4. From then on, after each change of mine: wait_for with from_byte and a regex for "ready again" or "error", then \
tell me which it was and the lines around it.
Do not stop it unless I ask.""",
    ),
    Prompt(
        "diagnose_tab",
        "Find out what is wrong in a tab: what runs, what it said, what it waits for",
        {"window_id": "the tab (@N, or its name)"},
        ("window_id",),
        ("list_tabs", "read_logs_from_tab"),
        """\
Something is wrong in the terminal tab <<window_id>>. Find out what, and change nothing yet.
1. list_tabs: its state, current_command and cwd. "interactive" waits for input, "incomplete" has an unfinished line, \
"busy" runs something that a person started, "dead" has ended.
2. read_logs_from_tab: first with grep "(?i)error|fail|fatal|denied|not found|traceback|panic", before 2, after 5; \
then the last 200 lines.
3. If a full-screen program runs: snapshot shows what is on the screen.
4. watch_events with since 0 and timeout_ms 0 shows which commands ran and how they ended.
Then tell me the cause with the lines that show it, and what you would do.""",
    ),
    Prompt(
        "drive_program",
        "Use an interactive program: an editor, a REPL, a debugger, an installer",
        {"program": "the command that starts it", "goal": "what to do in it", "window_id": _TAB},
        ("program", "goal"),
        ("create_tab", "send_keys", "wait_for", "snapshot"),
        """\
Use this interactive program in a terminal tab: <<program>>

What to do in it: <<goal>>

Use the tab <<window_id>>.
If no tab was named, open one with create_tab.
1. Type the command with send_keys: ["the command", "Enter"]. Keep next_byte of each answer.
2. After each thing that you type, wait_for with from_byte set to that next_byte: until or regex for what the program \
must show next, or idle_ms 300 if you do not know. Never guess how long something takes.
3. Look with snapshot when it draws on the screen, with read_logs_from_tab when it prints lines.
4. Send keys one step at a time; key names are tmux's: Enter, Escape, C-c, Up. Longer text goes with paste true.
5. A password: ask me, do not invent one.
Leave the program properly at the end, and tell me what was done.""",
    ),
)


@final
class PromptBook:
    """The prompts that work with the tools that are there."""

    def __init__(self, available: Collection[str], known: Collection[str]) -> None:
        self._available = available
        self._known = known
        self._prompts = {prompt.name: prompt for prompt in PROMPTS if set(available).issuperset(prompt.tools)}

    def listing(self) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[prompt.definition() for prompt in self._prompts.values()])

    def get(self, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return the answer to `prompts/get`; raises the protocol's error for an unknown prompt or bad arguments."""
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {params.name}")
        return prompt.filled(params.arguments or {}, self._available, self._known)
