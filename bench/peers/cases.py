"""The commands that every contender is asked to run, what each writes, and how an answer is judged.

An output is exact if it equals what the command wrote once carriage returns and one final newline are dropped, and
nothing was added. One that has all of that among other text, such as a prompt, is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Answer(NamedTuple):
    """What a contender says that a command wrote, and its exit code if it knows one."""

    output: str
    code: int | None


class Case(NamedTuple):
    """A command, what it writes, and its exit code."""

    name: str
    command: str
    output: str
    code: int


CASES = (
    Case("echo", "echo hi", "hi", 0),
    Case("no output", "true", "", 0),
    Case("failure", "false", "", 1),
    Case("a status of its own", "(exit 42)", "", 42),
    Case("no final newline", "printf 'a\\nb'", "a\nb", 0),
    Case("both streams", "echo out; echo err >&2", "out\nerr", 0),
    Case("5,000 lines", "seq 5000", "\n".join(map(str, range(1, 5001))), 0),
    Case("a line of 300", "printf '%0300d\\n' 7", "0" * 299 + "7", 0),
    Case("blank lines", "printf 'a\\n\\n\\nb\\n'", "a\n\n\nb", 0),
    Case("tab, blanks", "printf 'a\\tb   \\nc\\n'", "a\tb   \nc", 0),
    Case("not ASCII", "echo 'héllo 漢字 🙂'", "héllo 漢字 🙂", 0),
    Case("a comment", "echo a # c", "a", 0),
    Case("a semicolon", "echo a;", "a", 0),
    Case("two lines", "echo one\necho two", "one\ntwo", 0),
    Case("a here-document", "cat <<'EOF'\nx\n\n  y\nEOF", "x\n\n  y", 0),
    Case("history mark", 'echo "a !x"', "a !x", 0),
    Case("a second", "sleep 1; echo done", "done", 0),
    # The next two are one shell's: what the first sets, the second asks for.
    Case("state kept", "cd /usr && X=1", "", 0),
    Case("state there", 'pwd; echo "$X"', "/usr\n1", 0),
)
TRUE = "true"


@dataclass(frozen=True, slots=True)
class Judged:
    """One case and what came back, if anything did."""

    case: Case
    answer: Answer | None

    @property
    def exact(self) -> bool:
        """Whether the output is what the command wrote, and no more."""
        return self.answer is not None and plain(self.answer.output) == self.case.output

    @property
    def within(self) -> bool:
        """Whether the output is there, with something else around it."""
        return not self.exact and self.answer is not None and self.case.output in plain(self.answer.output)

    @property
    def code(self) -> bool:
        """Whether the exit code is right."""
        return self.answer is not None and self.answer.code == self.case.code


def plain(output: str) -> str:
    """An output without what a terminal or a protocol may add at no one's cost."""
    return output.replace("\r", "").removesuffix("\n")


@dataclass(frozen=True, slots=True)
class Score:
    """How one contender did over all cases."""

    judged: tuple[Judged, ...]

    @property
    def cells(self) -> tuple[str, int, str]:
        """Exact outputs, outputs among other text, right codes: as a table shows them."""
        total = len(self.judged)
        exact, within, codes = (sum(getattr(one, name) for one in self.judged) for name in ("exact", "within", "code"))
        return f"{exact} of {total}", within, f"{codes} of {total}"
