"""The stages of WorkBench that need no agent: judging recorded runs, replaying recorded calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.calls import Replay
from toolassay.benchmarks.workbench.judge.error_classes import error_rules
from toolassay.benchmarks.workbench.judge.evaluation import (
    ResultFile,
    RunVerdict,
    WorkbenchEvaluator,
    result_files,
)
from toolassay.benchmarks.workbench.judge.result_metrics import metrics_of, strict_metrics
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, refuse_to_replace, write_json, write_json_lines
from toolassay.metrics.pass_k import repeat_metrics
from toolassay.stages.screen import DEFAULT, Screen
from toolassay.stages.workplace import load_workplace
from toolassay.text_formatting import count_of

VERDICTS = "verdicts.jsonl"
METRICS = "metrics.json"


def evaluate_results(
    data_dir: str | Path,
    results: str | Path,
    *,
    out: str | Path,
    mode: str = "compat",
    allow_tools: bool = False,
    screen: Screen = DEFAULT,
) -> dict[str, dict[str, Any]]:
    """Judge published result files.

    Args:
        data_dir: the sandbox and the tasks: ours or the published folder.
        results: a result file, or a folder with some.
        out: the folder for `verdicts.jsonl` and `metrics.json`.
        mode: `compat` (the published verdicts) or `strict`.
        allow_tools: run the tools that the folder brings, which are a program.
        screen: who listens.

    Returns:
        The metrics by file; with repeated runs in strict mode, also `repeats` under the first file of each.

    Raises:
        UsageError: a file is missing, unreadable, or asks what is no task of the folder.
    """
    files, out = result_files(Path(results)), Path(out)
    folder = Path(data_dir)
    for name in (VERDICTS, METRICS):
        refuse_to_replace(
            out / name, [file.path for file in files], what="the verdicts would replace results", flag="--out"
        )
    sandbox, tasks = load_workplace(folder, allow_tools=allow_tools, screen=screen)
    evaluator = WorkbenchEvaluator(sandbox, tasks, mode, rules=error_rules(folder, sandbox))
    verdicts: dict[ResultFile, list[RunVerdict]] = {}
    with screen.progress("result files", len(files)) as advance:
        for file in files:
            verdicts[file] = list(evaluator.verdicts(file))
            advance()
    metrics = {file.name: metrics_of(file, found) for file, found in verdicts.items()}
    if mode == "strict":
        for file, found in verdicts.items():
            metrics[file.name] |= strict_metrics(found)
        for file, repeats in _repeats(verdicts):
            metrics[file.name]["repeats"] = repeats
    write_json_lines(out / VERDICTS, (v.to_json() for found in verdicts.values() for v in found))
    write_json(out / METRICS, metrics)
    return metrics


def replay(
    data_dir: str | Path,
    calls: str | Path,
    *,
    out: str | Path,
    allow_tools: bool = False,
    screen: Screen = DEFAULT,
) -> int:
    """Carry out sequences of calls, each on a fresh sandbox.

    Args:
        data_dir: the sandbox.
        calls: JSON lines: `{"calls": [{"call": text}, …]}`; whatever else a line holds is kept.
        out: each line again, with `ret` or `exc` for each call, and with `state_changes`.
        allow_tools: run the tools that the folder brings, which are a program.
        screen: who listens.

    Returns:
        How many sequences.

    Raises:
        UsageError: a file is missing, or a line has another form.
    """
    refuse_to_replace(
        Path(out),
        [Path(calls), *(path for path in Path(data_dir).glob("*") if path.is_file())],
        what="the lines would replace what is read",
        flag="--out",
    )
    replayed = Replay(open_workplace(data_dir, allow_tools=allow_tools))

    def lines() -> Iterator[dict[str, Any]]:
        for number, entry in read_json_lines(Path(calls)):
            texts = _calls_in(entry)
            if texts is None:
                raise UsageError(
                    "not a sequence of calls",
                    file=calls,
                    line=number,
                    fix='write {"calls": [{"call": "…"}, …]}',
                )
            done, changes = replayed.of(texts)
            yield {**entry, "calls": done, "state_changes": changes}

    count = write_json_lines(Path(out), lines())
    screen.say(f"{out}: {count_of(count, 'sequence')} replayed")
    return count


def _calls_in(entry: Any) -> list[str] | None:
    calls = entry.get("calls") if isinstance(entry, dict) else None
    if not isinstance(calls, list):
        return None
    texts = [call["call"] for call in calls if isinstance(call, dict) and isinstance(call.get("call"), str)]
    return texts if len(texts) == len(calls) else None


def _repeats(verdicts: dict[ResultFile, list[RunVerdict]]) -> Iterable[tuple[ResultFile, dict[str, Any]]]:
    """Of models that ran the same tasks in one setting more than once: the first file, and the chances."""
    runs: dict[Any, list[ResultFile]] = defaultdict(list)
    for file, found in verdicts.items():
        asked = frozenset(verdict.result.query for verdict in found)
        runs[file.model, file.tool_selection, asked].append(file)
    for files in runs.values():
        if len(files) > 1:
            outcomes: dict[Task, list[bool]] = defaultdict(list)
            for file in files:
                for verdict in verdicts[file]:
                    outcomes[verdict.task].append(verdict.correct)
            chances = repeat_metrics(
                [*outcomes.values()], clusters=[task.base_template for task in outcomes], trials=len(files)
            )
            yield files[0], {"files": [file.name for file in files], **chances}
