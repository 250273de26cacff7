"""mini-swe-agent: an `Environment` whose commands run one after the other in one tab, so that its state stays.

    agent = DefaultAgent(model, MuxwireEnvironment(cwd="/testbed", host="docker:task-1"), ...)

What differs from the environments of mini-swe-agent: `cd`, variables and functions stay from one command to the next,
unless a command is given a `cwd` of its own. A command that waits for input is stopped, since nothing can answer it.
"""

from __future__ import annotations

import os
import platform
import subprocess
from typing import TYPE_CHECKING, Any, final

from pydantic import BaseModel

from muxwire.adapters import needed, shown, why_it_waits
from muxwire.adapters.one_tab import OneTab
from muxwire.errors import MuxwireError

with needed("mini-swe-agent"):
    from minisweagent.exceptions import Submitted
    from minisweagent.utils.serialize import recursive_merge

if TYPE_CHECKING:
    import muxwire.sync
    from muxwire.results import ExecutionResult

# What an agent prints first to say that its task is done; the rest of that output is its answer.
_DONE = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
# The `returncode` of `LocalEnvironment` for a command that has no exit code.
_NO_STATUS = -1


class MuxwireEnvironmentConfig(BaseModel):
    """`cwd`, `env` and `timeout` (seconds) as in `LocalEnvironmentConfig`; `host` is a machine, `shell` a program."""

    cwd: str = ""
    env: dict[str, str] = {}
    timeout: int = 30
    host: str = ""
    shell: str = "bash"


@final
class MuxwireEnvironment(OneTab):
    """One tab. A tab that has ended, because a command was `exit`, is replaced by the next command."""

    def __init__(
        self,
        *,
        config_class: type[MuxwireEnvironmentConfig] = MuxwireEnvironmentConfig,
        terminals: muxwire.sync.Terminals | None = None,
        **given: Any,  # noqa: ANN401 - what the configuration takes
    ) -> None:
        """`terminals` is an instance that others use too; without it there is one for this environment alone."""
        self.config = config = config_class(**given)
        start = config.cwd or ("" if config.host else os.getcwd())  # noqa: PTH109 - a text is wanted
        super().__init__(terminals, cwd=start, env=config.env, shell=config.shell, host=config.host)

    def execute(self, action: dict[str, Any], cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        """Run `action["command"]`; the keys are `output`, `returncode` and `exception_info`, as of LocalEnvironment.

        Raises: Submitted, when the output says that the task is done.
        """
        command, seconds = action.get("command", ""), timeout or self.config.timeout
        try:
            output = self._ran(command, cwd, seconds) if command.strip() else _output("", 0)
        except MuxwireError as error:
            output = _failed("", f"{error}; {error.remedy}" if error.remedy else str(error), type(error).__name__)
        lines = output["output"].lstrip().splitlines(keepends=True)
        if lines and lines[0].strip() == _DONE and output["returncode"] == 0:
            submission = "".join(lines[1:])
            extra = {"exit_status": "Submitted", "submission": submission}
            raise Submitted({"role": "exit", "content": submission, "extra": extra})
        return output

    def _ran(self, command: str, cwd: str, seconds: float) -> dict[str, Any]:
        tab = self._opened()
        result = tab.execute(command, cwd=cwd or "", timeout=seconds)
        if result.running:
            tab.stop_process()
            return _failed(shown(result.output), f"it was stopped: {why_it_waits(result)}", "WaitsForInput")
        if result.timed_out:
            late = subprocess.TimeoutExpired(command, seconds)
            return _failed(shown(result.output), str(late), type(late).__name__)
        return _output(_text(result), result.exit_code if result.exit_code is not None else _NO_STATUS)

    def get_template_vars(self, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - of any type in mini-swe-agent too
        """What templates of prompts may name."""
        variables: dict[str, Any] = recursive_merge(
            self.config.model_dump(), platform.uname()._asdict(), os.environ, given
        )
        return variables

    def serialize(self) -> dict[str, Any]:
        """What a trajectory says of its environment."""
        kind = f"{type(self).__module__}.{type(self).__name__}"
        config = {"environment": self.config.model_dump(mode="json"), "environment_type": kind}
        return {"info": {"config": config}}


def _text(result: ExecutionResult) -> str:
    # An interactive bash prints `exit` when it runs that command.
    output = shown(result.output)
    output = output.removesuffix("exit\n") if result.state == "dead" else output
    return f"{output}[{result.note}]\n" if result.exit_code is None and result.note else output


def _output(text: str, status: int) -> dict[str, Any]:
    return {"output": text, "returncode": status, "exception_info": ""}


def _failed(text: str, why: str, kind: str) -> dict[str, Any]:
    message = f"An error occurred while executing the command: {why}"
    extra = {"exception_type": kind, "exception": why}
    return {"output": text, "returncode": _NO_STATUS, "exception_info": message, "extra": extra}
