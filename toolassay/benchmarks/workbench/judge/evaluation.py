"""Result files -> verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolassay.benchmarks.workbench.judge.classes import classes_of
from toolassay.benchmarks.workbench.judge.compat import CompatJudge
from toolassay.benchmarks.workbench.judge.error_rules import PUBLISHED, ErrorRules
from toolassay.benchmarks.workbench.judge.results import Result, ResultFile
from toolassay.benchmarks.workbench.judge.strict import StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.judge.verdict import Verdict
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.errors import UsageError

MODES = ("compat", "strict")
NO_COMPAT = "compat verdicts are of the published tables only"


class Evaluator:
    """Judges result files of one data folder.

    Args:
        sandbox: as every run found it.
        tasks: what was asked.
        mode: `compat` or `strict`.
        rules: what the classes of errors look for.

    Raises:
        UsageError: no such mode, or compat for a workplace of somebody's own.
    """

    def __init__(
        self, sandbox: Sandbox, tasks: Iterable[Task], mode: str, *, rules: ErrorRules = PUBLISHED
    ) -> None:
        if mode not in MODES:
            raise UsageError(f"unknown mode {mode!r}", fix=f"choose from {', '.join(MODES)}")
        if mode == "compat" and sandbox.toolset is not None:
            raise UsageError(NO_COMPAT, fix="add --mode strict")
        self._toolset = toolset_of(sandbox)
        self._tasks: Mapping[str, Task] = {task.query: task for task in tasks}
        self._rules = rules
        self._judge: CompatJudge | StrictJudge
        self._judge = CompatJudge(sandbox) if mode == "compat" else StrictJudge(sandbox)

    def verdicts(self, file: ResultFile) -> Iterator[Verdict]:
        """A verdict a row.

        Raises:
            UsageError: a row asks what is no task of the folder.
        """
        for row, result in enumerate(file.read()):
            task = self._tasks.get(result.query)
            if task is None:
                raise UsageError(
                    f"row {row}: {result.query[:80]!r} is no request of the data folder",
                    file=file.path,
                    fix="give the folder these results are of as --data_dir",
                )
            yield self.verdict(file.name, row, task, result)

    def verdict(self, file: str, row: int, task: Task, result: Result) -> Verdict:
        """The verdict on one result."""
        judged = self._judge.verdict(result.calls, task.answer, error=result.error)
        classes = classes_of(
            result.calls,
            task.answer,
            correct=judged.correct,
            query=task.query,
            rules=self._rules,
            toolset=self._toolset,
        )
        strict = judged if isinstance(judged, StrictVerdict) else None
        return Verdict(file, row, task, result, judged.correct, judged.side_effects, classes, strict)
