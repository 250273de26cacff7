"""The prompt on a terminal: history, completion, pasted lines, C-c and C-d, with notifications above it.

C-c drops the line, C-d on an empty line ends. While tmux is asked, C-c ends the REPL.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none, get_app_session, run_in_terminal
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.renderer import print_formatted_text as render
from prompt_toolkit.styles import default_ui_style

from muxwire.repl.completion import Vocabulary, complete, load_vocabulary
from muxwire.repl.session import WORDS
from muxwire.repl.showing import plain

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from muxwire.repl.session import Session
    from muxwire.repl.showing import Line


async def write_lines(lines: list[Line]) -> None:
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
class _Completer(Completer):
    """Offers what `complete` finds, after asking tmux what there is now."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def get_completions_async(self, document: Document, _: CompleteEvent) -> AsyncGenerator[Completion, None]:
        live = self._session.terminals is not None
        vocabulary = await load_vocabulary((await self._session.connect()).ask) if live else Vocabulary()
        typed, choices = complete(document.text_before_cursor, vocabulary, WORDS)
        for choice in choices:
            yield Completion(choice, -len(typed))

    def get_completions(self, _: Document, _event: CompleteEvent) -> Iterable[Completion]:
        """Return nothing: the prompt asks for the others."""
        return ()


async def run_prompt(session: Session, history: str) -> int:
    """Read lines and run them until C-d. Commands may hold secrets: only we can read the file `history`."""
    with suppress(OSError):
        os.close(os.open(history, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    bindings = KeyBindings()
    # Not `enable_suspend`, by which the main thread stops first: this one drew the prompt once more before it did.
    bindings.add("c-z")(lambda _: run_in_terminal(lambda: signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)))
    prompt: PromptSession[str] = PromptSession(
        "replay> " if session.terminals is None else "tmux> ",
        history=FileHistory(history),
        completer=_Completer(session),
        complete_while_typing=False,
        prompt_continuation="  ... ",
        key_bindings=bindings,
    )
    session.confirm = _ask
    with suppress(EOFError):
        while True:
            await session.printer.flushed()
            with suppress(KeyboardInterrupt):
                await session.run(await prompt.prompt_async())
    return 0


async def _ask(question: str) -> bool:
    """Ask for yes or no, on a line that is not kept in the history."""
    question_prompt: PromptSession[str] = PromptSession(question)
    try:
        return (await question_prompt.prompt_async()).strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False
