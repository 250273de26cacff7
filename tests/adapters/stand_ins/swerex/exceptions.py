"""swe-rex 1.4: what the adapter uses of it, with its types."""

from __future__ import annotations


class SwerexException(Exception):
    pass


class CommandTimeoutError(SwerexException, RuntimeError):
    pass


class NoExitCodeError(SwerexException, RuntimeError):
    pass


class NonZeroExitCodeError(SwerexException, RuntimeError):
    pass


class SessionExistsError(SwerexException, ValueError):
    pass


class BashIncorrectSyntaxError(SwerexException, RuntimeError):
    pass
