"""The prompt on a terminal: history, completion, pasted lines, C-c and C-d, with notifications above it.

C-c drops the line, or stops waiting for what runs (a command of `:exec` is interrupted). C-d on an empty line ends.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none, get_app_session
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.renderer import print_formatted_text as render
from prompt_toolkit.styles import default_ui_style

from muxwire.repl.completion import complete
from muxwire.repl.live import Vocabulary
from muxwire.repl.showing import plain
from muxwire.repl.words import run_entries

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence
    from pathlib import Path

    from anyio.abc import TaskStatus
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from muxwire.repl.showing import Line
    from muxwire.repl.state import Session


async def write_lines(lines: Sequence[Line]) -> None:
    """Write lines above the prompt, or where the cursor is if there is none.

    prompt_toolkit's own way (run_in_terminal, print_formatted_text) leaves raw mode while it prints: what is typed then
    is echoed into the lines, and C-c is a signal. So the prompt is taken away, the lines are written by the renderer,
    and the prompt is drawn again below them.
    """
    coloured = not os.environ.get("NO_COLOR")  # https://no-color.org
    app = get_app_or_none()
    running = app if app is not None and app.is_running else None
    if running is not None:
        running.renderer.erase()
    text = [part for line in lines for part in (*(line if coloured else (("", plain(line)),)), ("", "\n"))]
    render(get_app_session().output, FormattedText(text), default_ui_style())
    if running is not None:
        running.renderer.reset()
        running.renderer.request_absolute_cursor_position()
        running.invalidate()


@final
class PromptCompleter(Completer):
    """Offers what `complete` finds, after asking tmux again if windows have come or gone."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def get_completions_async(self, document: Document, event: CompleteEvent) -> AsyncGenerator[Completion, None]:
        if self._session.live is not None:
            await self._session.live.refresh_targets()
        for completion in self.get_completions(document, event):
            yield completion

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        del complete_event
        live = self._session.live
        for choice in complete(document.text_before_cursor, live.vocabulary if live else Vocabulary()):
            yield Completion(choice.text, -choice.replaces, display_meta=choice.meaning)


def open_prompt(session: Session, history: Path) -> PromptSession[str]:
    """Make the prompt; its history lies in a file that only we can read, since commands may hold secrets."""
    with suppress(OSError):
        os.close(os.open(history, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    prompt: PromptSession[str] = PromptSession(
        "replay> " if session.live is None else "tmux> ",
        history=FileHistory(str(history)),
        completer=PromptCompleter(session),
        complete_while_typing=False,
        prompt_continuation="  ... ",
        enable_suspend=True,
    )
    return prompt


@final
class Interrupts:
    """What C-c does when it comes as a signal, which it does while no line is edited."""

    def __init__(self, prompt: PromptSession[str]) -> None:
        self._prompt = prompt
        self._running: anyio.CancelScope | None = None

    async def watch(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            task_status.started()
            async for _ in signals:
                if self._running is not None:
                    self._running.cancel()
                elif self._prompt.app.is_running:
                    self._prompt.app.exit(exception=KeyboardInterrupt())

    async def run(self, session: Session, text: str) -> None:
        """Run a line; C-c stops waiting for it."""
        with anyio.CancelScope() as self._running:
            await run_entries(session, text)
        if self._running.cancelled_caught:
            session.say("", "interrupted")  # "" ends the line on which the terminal has written ^C
        self._running = None


async def run_prompt(session: Session, history: Path) -> int:
    prompt = open_prompt(session, history)
    interrupts = Interrupts(prompt)
    await session.tasks.start(interrupts.watch)
    session.confirm = ask
    while not session.over:
        await session.printer.flushed()
        try:
            # The signal has a handler of muxwire, which prompt_toolkit's would remove.
            text = await prompt.prompt_async(handle_sigint=False)
        except KeyboardInterrupt:
            continue
        except EOFError:
            break
        await interrupts.run(session, text)
    await session.printer.flushed()
    return 0


async def ask(question: str) -> bool:
    """Ask for yes or no, on a line that is not kept in the history."""
    question_prompt: PromptSession[str] = PromptSession(question)
    try:
        return (await question_prompt.prompt_async(handle_sigint=False)).strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False
