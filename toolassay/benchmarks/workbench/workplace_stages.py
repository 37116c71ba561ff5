"""The stages of `toolassay workbench`: create, check and generate workplaces, score results, replay calls."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.workbench.calls import Replay
from toolassay.benchmarks.workbench.generate.company import draw_tables
from toolassay.benchmarks.workbench.generate.data_folder import check_replaceable, sandbox_of, write_folder
from toolassay.benchmarks.workbench.generate.generated_tasks import (
    draw_tasks,
    prove_task,
)
from toolassay.benchmarks.workbench.judge.error_classes import error_rules
from toolassay.benchmarks.workbench.judge.evaluation import (
    ResultFile,
    RunVerdict,
    WorkbenchEvaluator,
    metrics_of,
    result_files,
    strict_metrics,
)
from toolassay.benchmarks.workbench.own.new_workplace import Effect, check_tasks, make_workplace
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task, read_tasks
from toolassay.benchmarks.workbench.workplace import open_workplace, own_tools_file
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import (
    read_json_lines,
    record_of,
    refuse_to_replace,
    sha256_of,
    write_json,
    write_json_lines,
)
from toolassay.metrics.pass_k import repeat_metrics
from toolassay.screen import DEFAULT, Screen
from toolassay.text_formatting import count_of


def load_workplace(
    folder: Path, *, allow_tools: bool = False, screen: Screen = DEFAULT
) -> tuple[Sandbox, list[Task]]:
    """The sandbox and the tasks of a folder; in a team's own workplace, all ground truths are run first.

    Args:
        folder: Data folder.
        allow_tools: Run the `tools.py` of the folder, which is Python code.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or invalid, tools are not allowed, or a ground truth fails.
    """
    sandbox = open_workplace(folder, allow_tools=allow_tools)
    if isinstance(sandbox, OwnSandbox):
        _report(sandbox, folder, screen)
        return sandbox, [effect.task for effect in check_tasks(sandbox, folder)]
    return sandbox, read_tasks(folder)


def tools_hash(folder: Path) -> dict[str, str]:
    """The signature part `tools`, the hash of a folder's `tools.py`; empty without one."""
    tools = own_tools_file(folder)
    return {} if tools is None else {"tools": sha256_of(tools)}


def new_workplace(
    target: str | Path,
    *,
    sandbox: str | Path | None = None,
    tools: str | Path | None = None,
    tasks: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> list[Effect]:
    """Create and check your own workplace; without files, a small example.

    Args:
        target: New folder; it must not exist.
        sandbox: SQLite file, which is copied.
        tools: Python file with tools, which is copied and run.
        tasks: JSON Lines file with tasks, which is copied.
        screen: Receives messages, results and progress.

    Returns:
        The effect of each task.

    Raises:
        UsageError: The folder exists, or a file is invalid; nothing is written.
    """
    given = [None if file is None else Path(file) for file in (sandbox, tools, tasks)]
    made, effects = make_workplace(Path(target), *given)
    _report(made, Path(target), screen)
    if sandbox is not None:
        moment = f"{made.now:%Y-%m-%d %H:%M:%S}, by this machine's clock"
        screen.say(
            f"{DataFolder(Path(target)).benchmark_file}: it is {moment}, and agents work for {made.user}: "
            "write there what your tasks need"
        )
    return effects


def check_workplace(
    folder: str | Path, *, allow_tools: bool = False, screen: Screen = DEFAULT
) -> list[Effect]:
    """Run the ground truths of your own workplace.

    Args:
        folder: Data folder.
        allow_tools: Run the `tools.py` of the folder, which is Python code.
        screen: Receives messages, results and progress.

    Returns:
        The effect of each task.

    Raises:
        UsageError: A file of the folder is invalid.
    """
    if not Path(folder).is_dir():
        raise UsageError("no such folder", file=folder, fix="check its name")
    sandbox = open_workplace(folder, allow_tools=allow_tools)
    if not isinstance(sandbox, OwnSandbox):
        raise UsageError(
            "has no tools of its own", file=folder, fix="check a folder made by `toolassay workbench new`"
        )
    _report(sandbox, Path(folder), screen)
    return check_tasks(sandbox, Path(folder))


def _report(sandbox: OwnSandbox, folder: Path, screen: Screen) -> None:
    assert sandbox.toolset is not None
    domains = sandbox.toolset.toolkits
    tools = count_of(len(sandbox.toolset.tools), "tool")
    screen.say(f"{own_tools_file(folder)}: {tools} ({', '.join(domains)})")


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
    """Score result files in the published format.

    Args:
        data_dir: Folder with the sandbox and the tasks, in the layout of this package or the published one.
        results: Result file, or a folder of result files.
        out: Output folder for `verdicts.jsonl` and `metrics.json`.
        mode: "compat" (the published verdicts) or "strict".
        allow_tools: Run the `tools.py` of the folder, which is Python code.
        screen: Receives messages, results and progress.

    Returns:
        The metrics by file; with repeated runs in strict mode, also `repeats` under the first file of each.

    Raises:
        UsageError: A file is missing or malformed, or has a request that is not a task of the folder.
    """
    files, out = result_files(Path(results)), Path(out)
    folder = Path(data_dir)
    for name in (VERDICTS, METRICS):
        refuse_to_replace(
            out / name, [file.path for file in files], what="the verdicts would replace results", flag="--out"
        )
    sandbox, _ = load_workplace(folder, allow_tools=allow_tools, screen=screen)
    evaluator = WorkbenchEvaluator(sandbox, mode, rules=error_rules(folder, sandbox))
    versions: dict[str, dict[str, Task]] = {}
    verdicts: dict[ResultFile, list[RunVerdict]] = {}
    with screen.progress("result files", len(files)) as advance:
        for file in files:
            if (version := file.task_version) not in versions:
                versions[version] = {task.query: task for task in read_tasks(folder, version)}
            verdicts[file] = list(evaluator.verdicts(file, versions[version]))
            advance()
    facts = sandbox.edition.facts
    metrics = {file.name: {**facts, **metrics_of(file, found)} for file, found in verdicts.items()}
    if mode == "strict":
        for file, found in verdicts.items():
            metrics[file.name] |= strict_metrics(found)
        for file, repeats in _repeats(verdicts):
            metrics[file.name]["repeats"] = repeats
    write_json_lines(out / VERDICTS, (v.to_json() for found in verdicts.values() for v in found))
    write_json(out / METRICS, metrics)
    return metrics


class CallText(msgspec.Struct, frozen=True):
    """A call of a sequence, as text."""

    call: str


class CallSequence(msgspec.Struct, frozen=True):
    """A line of a file to replay; other keys are kept."""

    calls: tuple[CallText, ...]


def replay(
    data_dir: str | Path,
    calls: str | Path,
    *,
    out: str | Path,
    allow_tools: bool = False,
    screen: Screen = DEFAULT,
) -> int:
    """Execute sequences of calls, each on a fresh sandbox.

    Args:
        data_dir: Folder with the sandbox.
        calls: JSON Lines file: `{"calls": [{"call": text}, …]}`; other keys of a line are kept.
        out: Output file: the same lines with `ret` or `exc` for each call, and with `state_changes`.
        allow_tools: Run the `tools.py` of the folder, which is Python code.
        screen: Receives messages, results and progress.

    Returns:
        Number of sequences.

    Raises:
        UsageError: A file is missing, or a line is malformed.
    """
    refuse_to_replace(
        Path(out),
        [Path(calls), *(path for path in Path(data_dir).glob("*") if path.is_file())],
        what="the lines would replace what is read",
        flag="--out",
    )
    replayed = Replay(open_workplace(data_dir, allow_tools=allow_tools))

    def lines() -> Iterator[dict[str, Any]]:
        fix = 'write {"calls": [{"call": "…"}, …]}'
        for number, entry in read_json_lines(Path(calls)):
            sequence = record_of(entry, CallSequence, file=Path(calls), line=number, fix=fix)
            done, changes = replayed.of(one.call for one in sequence.calls)
            yield {**entry, "calls": done, "state_changes": changes}

    count = write_json_lines(Path(out), lines())
    screen.say(f"{out}: {count_of(count, 'sequence')} replayed")
    return count


def _repeats(verdicts: dict[ResultFile, list[RunVerdict]]) -> Iterable[tuple[ResultFile, dict[str, Any]]]:
    """pass@k and pass^k of each model with several runs of the same tasks and settings, by its first file."""
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


def generate_workbench(data_dir: str | Path, *, seed: int = 0, screen: Screen = DEFAULT) -> None:
    """Generate a workplace and 690 tasks; the same seed gives identical files.

    Every ground truth is executed once; nothing is written unless each of its calls has an effect.

    Args:
        data_dir: Output folder, created if missing.
        seed: Random seed; -1 draws one and prints it.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: the folder holds another benchmark, or files that were changed since they were generated.
        NoRoom: the seed makes a workplace that has too few cases of some request; say another one.
    """
    path = Path(data_dir)
    check_replaceable(path)
    if seed < 0:
        seed = secrets.randbelow(1_000_000)
        screen.say(f"seed {seed}")
    tables = draw_tables(seed)
    sandbox, tasks = sandbox_of(tables), draw_tasks(tables, seed)
    with screen.progress("proved", len(tasks)) as advance:
        for task in tasks:
            prove_task(sandbox, task)
            advance()
    write_folder(path, sandbox, tasks, seed)
    screen.say(f"{path}: {len(tasks)} requests")
