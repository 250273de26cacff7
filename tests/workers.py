"""A pytest plugin: run the files of tests in several processes, which are forked after the collection.

    python -m pytest -p tests.workers --workers 7

The workers of pytest-xdist are programs of their own, and each of them collects all tests: 7 s of a processor for 7,000
tests, and as much memory. A fork has them already. Besides, a worker of pytest-xdist gets its next file while it still
runs one, and a file behind a long one waits while other workers are idle. Here a worker takes the next file at the
last test of its file.
"""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import random
import struct
import sys
import traceback
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NoReturn, final

import pytest

if TYPE_CHECKING:
    import warnings
    from collections.abc import Iterator, Sequence

# The number of a group of tests, in the pipe that all workers read: a read of so many bytes takes one whole number.
_NUMBER = struct.Struct("=I")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="run the files of tests in so many processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests in workers; None, for pytest's own loop, if there are to be none."""
    count = session.config.getoption("workers")
    if count < 1 or session.config.option.collectonly or session.testsfailed:
        return None
    _run(session, count)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


def _run(session: pytest.Session, count: int) -> None:
    groups = [list(group) for _, group in groupby(session.items, key=lambda item: item.path)]
    numbers, writer = os.pipe()
    os.write(writer, b"".join(_NUMBER.pack(number) for number in range(len(groups))))
    os.close(writer)
    # In memory that all of them share: whether tests are to stop, as after the first failure with -x.
    stopped = mmap.mmap(-1, 1)
    # The workers' own directories are in it.
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    workers: dict[Connection, int] = {}
    overseer = _Overseer(session)
    try:
        for index in range(min(count, len(groups))):
            reader, to = Pipe(duplex=False)
            pid = os.fork()
            if pid == 0:
                for other in (reader, *workers):  # else a worker would not see that the first process has ended
                    other.close()
                _be_worker(session, index, _taken(groups, numbers), to, stopped)
            workers[reader] = pid
            to.close()
        while workers:
            for ready in wait(list(workers)):
                assert isinstance(ready, Connection)
                try:
                    overseer.hear(ready, ready.recv())
                except EOFError:
                    os.waitpid(workers.pop(ready), 0)
                    overseer.ended(ready)
                stopped[0] = bool(session.shouldfail or session.shouldstop)
        if not stopped[0]:
            overseer.check_all()
    finally:
        stopped[0] = True
        os.close(numbers)
        for reader, pid in workers.items():
            reader.close()  # a worker that still runs a test ends when it reports its end
            os.waitpid(pid, 0)


def _taken(groups: Sequence[list[pytest.Item]], numbers: int) -> Iterator[list[pytest.Item]]:
    """The next group that no other worker has taken, as often as it is asked for."""
    while number := os.read(numbers, _NUMBER.size):
        yield groups[_NUMBER.unpack(number)[0]]


@final
class _Overseer:
    """What the first process does with what the workers tell it."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._config = session.config
        # The test that each worker runs, and the tests of which no end has been reported.
        self._running: dict[Connection, str] = {}
        self._left = dict.fromkeys(item.nodeid for item in session.items)

    def hear(self, worker: Connection, message: tuple[str, Any]) -> None:
        kind, told = message
        hook = self._config.hook
        if kind == "start":
            self._running[worker] = told[0]
            hook.pytest_runtest_logstart(nodeid=told[0], location=told[1])
        elif kind == "finish":
            self._running.pop(worker, None)
            self._left.pop(told[0], None)
            hook.pytest_runtest_logfinish(nodeid=told[0], location=told[1])
        elif kind == "report":
            report = hook.pytest_report_from_serializable(config=self._config, data=told)
            hook.pytest_runtest_logreport(report=report)
        else:
            hook.pytest_warning_recorded.call_historic(kwargs=told)

    def ended(self, worker: Connection) -> None:
        """A worker has ended: if in the middle of a test, that test has failed."""
        if worker in self._running:
            self._fail(self._running.pop(worker), "the process that ran it has ended")

    def check_all(self) -> None:
        """Fail the tests of which nothing was told: the worker that had taken their file is gone."""
        for name in list(self._left):
            self._fail(name, "it was not run: the process that had taken its file has ended")

    def _fail(self, name: str, why: str) -> None:
        self._left.pop(name, None)
        place = (name.partition("::")[0], None, name)
        report = pytest.TestReport(name, place, {}, "failed", why, "call")
        self._config.hook.pytest_runtest_logreport(report=report)


@final
class _Teller:
    """In a worker: tells the first process what there a reporter at the terminal would have shown.

    It has the place of that reporter, of which other plugins need the writer: the stacks of a test that hangs.
    """

    def __init__(self, config: pytest.Config, to: Connection) -> None:
        self._config = config
        self._to = to
        self._tw = config.get_terminal_writer()

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._to.send(("start", (nodeid, location)))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._to.send(("finish", (nodeid, location)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._to.send(("report", data))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: tuple[str, int, str] | None
    ) -> None:
        warning_message.source = None  # may be anything
        told = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        try:
            pickle.dumps(told)
        except Exception:  # noqa: BLE001 - a warning may hold anything
            warning_message.message = UserWarning(str(warning_message.message))
            warning_message.category = UserWarning
        self._to.send(("warning", told))


def _be_worker(
    session: pytest.Session, index: int, groups: Iterator[list[pytest.Item]], to: Connection, stopped: mmap.mmap
) -> NoReturn:
    """In the fork: run groups of tests until there are no more, and end without what the parent does at its end."""
    code = 1
    try:
        _separate(session.config, index, to)
        _work(session, groups, stopped)
        code = 0
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the first process has ended, or a C-c in its terminal ends all of them
    except BaseException:  # noqa: BLE001 - a fork must never go on with what its parent does
        traceback.print_exc()
    finally:
        try:
            session._setupstate.teardown_exact(None)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _separate(config: pytest.Config, index: int, to: Connection) -> None:
    """Replace what a fork must not share with its parent and the other forks."""
    plugins = config.pluginmanager
    teller = _Teller(config, to)
    plugins.unregister(name="terminalreporter")
    plugins.register(teller, "terminalreporter")
    # Files whose offset all forks share hold what tests print. The objects stay: a module may have one as `sys.stderr`.
    capturing = plugins.getplugin("capturemanager")._global_capturing
    for one in (capturing.out, capturing.err):
        if hasattr(one, "targetfd"):
            with TemporaryFile() as own:
                os.dup2(own.fileno(), one.tmpfile.fileno(), inheritable=False)
    folder = config._tmp_path_factory.getbasetemp() / str(index)  # type: ignore[attr-defined]
    folder.mkdir(mode=0o700)
    config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    random.seed()
    gc.freeze()


def _work(session: pytest.Session, groups: Iterator[list[pytest.Item]], stopped: mmap.mmap) -> None:
    group = next(groups, None)
    while group is not None:
        following = None
        for item, after in zip(group, (*group[1:], None), strict=True):
            # With the next file known, what lasts for all files is not taken down between two.
            following = next(groups, None) if after is None else None
            coming = after or (following[0] if following else None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=coming)
            if stopped[0] or session.shouldfail or session.shouldstop:
                return
        group = following
