"""A console without a process: what a verb is given, and what it wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, final

from muxwire.cli.console import Console
from muxwire.library.terminals import Terminals
from muxwire.vt.readable import Size

NO_TERMINAL: tuple[Size | None, Size | None, Size | None] = (None, None, None)


@final
class Caller(Console):
    """Keeps what is written to stdout (`out`), to stderr (`err`) and into `files`; verbs act on `terminals`."""

    def __init__(
        self,
        *words: str,
        environ: Mapping[str, str] | None = None,
        sizes: tuple[Size | None, Size | None, Size | None] = NO_TERMINAL,
        given: bytes = b"",
        terminals: Any = None,
    ) -> None:
        super().__init__(words, dict(environ or {}), sizes, "", self._opened)
        self.given, self.out, self.err = given, b"", b""
        self.files: dict[str, bytes] = {}
        self._terminals = terminals

    def write(self, data: bytes, *, error: bool = False) -> None:
        if error:
            self.err += data
        else:
            self.out += data

    async def write_soon(self, data: bytes) -> None:
        self.out += data

    async def read(self, most: int) -> bytes:
        read, self.given = self.given[:most], self.given[most:]
        return read

    @asynccontextmanager
    async def create(self, file: str, *, overwrite: bool) -> AsyncIterator[Any]:
        self.files[file] = b""

        async def write(data: bytes) -> None:
            self.files[file] += data

        yield write

    @asynccontextmanager
    async def _opened(self, given: Mapping[str, Any]) -> AsyncIterator[Terminals]:
        yield self._terminals
