"""That the ground truth of a request does what the request says, and nothing else."""

from __future__ import annotations

from toolassay.benchmarks.workbench.calls import run_text
from toolassay.benchmarks.workbench.generate.checks import CHECKS, Expected, gaps_of
from toolassay.benchmarks.workbench.generate.tasks import MadeTask
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.difference import difference
from toolassay.benchmarks.workbench.tools import ToolFailure
from toolassay.errors import ToolassayError


def prove(sandbox: Sandbox, task: MadeTask) -> None:
    """Carry out the calls of a task on a copy of the sandbox, and compare with what the text asks for.

    Raises:
        ToolassayError: a call fails or has no effect, or the text is not understood or says something else.
    """
    copy = sandbox.fork()
    try:
        for text in task.answer:
            before = copy.connection.total_changes
            run_text(copy, text)
            if copy.connection.total_changes == before:
                raise ToolassayError(f"{task.id}: no effect: {text}")
        done = Expected.of(difference(sandbox, copy))
    except ToolFailure as failure:
        raise ToolassayError(f"{task.id}: {failure}") from failure
    finally:
        copy.close()
    try:
        wanted = CHECKS[task.template](sandbox.connection, gaps_of(task.chosen_template, task.query))
    except ValueError as error:
        raise ToolassayError(f"{task.id}: '{task.query}' cannot be understood: {error}") from error
    if done != wanted:
        raise ToolassayError(f"{task.id}: '{task.query}' asks for {wanted}, its calls do {done}")
