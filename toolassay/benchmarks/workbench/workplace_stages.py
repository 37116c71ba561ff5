"""The stages of `toolassay workbench`: create, check and generate workplaces, score results, replay calls."""

from __future__ import annotations

import secrets
import shutil
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.workbench.calls import Replay, parse_call, run_text
from toolassay.benchmarks.workbench.generate.company import draw_tables
from toolassay.benchmarks.workbench.generate.generated_tasks import (
    check_replaceable,
    draw_tasks,
    prove_task,
    sandbox_of,
    write_folder,
)
from toolassay.benchmarks.workbench.judge.error_classes import error_rules
from toolassay.benchmarks.workbench.judge.result_verdicts import (
    ResultFile,
    RunVerdict,
    WorkbenchEvaluator,
    metrics_of,
    result_files,
    scored_run,
    scored_task,
    strict_metrics,
)
from toolassay.benchmarks.workbench.judge.strict import StateChange, changes_between
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox, read_database
from toolassay.benchmarks.workbench.sandbox import FILE as SANDBOX
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import FILE as TASKS
from toolassay.benchmarks.workbench.tasks import PlacedTask, Task, placed_tasks, read_tasks
from toolassay.benchmarks.workbench.tools import ToolFailure, toolset_of
from toolassay.benchmarks.workbench.workplace import TOOLS, load_own, open_workplace, own_tools_file
from toolassay.console.screen import DEFAULT, Screen
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError
from toolassay.files.data_files import (
    read_json_lines,
    record_of,
    refuse_to_replace,
    sha256_of,
    write_json,
    write_json_lines,
)
from toolassay.files.locks import temporary_folder
from toolassay.metrics.pass_k import repeat_metrics
from toolassay.records.data_folder import DataFolder

_NOUNS = {"gone": "row", "new": "row", "changed": "cell"}


@dataclass(frozen=True)
class Effect:
    """The effect of a task's ground truth.

    Attributes:
        task: the task.
        changes: the changes to judged tables; empty if the task asks for no action.
    """

    task: Task
    changes: tuple[StateChange, ...]

    @property
    def is_idle(self) -> bool:
        """Whether the ground truth has calls but changes nothing, which is probably a mistake."""
        return bool(self.task.answer) and not self.changes

    @property
    def summary(self) -> str:
        """One line: the number of rows gone, rows new and cells changed, by table.

        >>> Effect(Task("Hello", (), "", "", ("desk",), "desk", "desk-001"), ()).summary
        'desk-001: no action'
        """
        if self.is_idle:
            return f"{self.task.id}: warning: its answer has calls, and changes nothing"
        counts = Counter((change.table, change.kind) for change in self.changes)
        counted = ", ".join(
            f"{table}: {count_of(count, _NOUNS[kind])} {kind}" for (table, kind), count in counts.items()
        )
        return f"{self.task.id}: {counted or 'no action'}"


def check_tasks(sandbox: OwnSandbox, folder: Path) -> list[Effect]:
    """Run the ground truth of every task twice, each time on a fresh copy.

    Raises:
        UsageError: a task cannot be read, occurs twice, names an unknown domain or a tool outside its
            domains; a call of its ground truth fails; or the two runs leave different states.
    """
    return [_effect(sandbox, placed) for placed in placed_tasks(folder)]


def _effect(sandbox: OwnSandbox, placed: PlacedTask) -> Effect:
    task = placed.task
    toolset = toolset_of(sandbox)
    try:
        known = {tool.name for tool in toolset.of_domains(task.domains)}
    except UsageError as error:
        raise placed.error(str(error)) from None
    for text in task.answer:
        call = parse_call(text, toolset)
        if call is None:
            raise placed.error(f"not a call: {text[:200]}", 'write domain.tool.func(name="value")')
        if call.name in toolset.tools and call.name not in known:
            fix = f"add {call.name.partition('.')[0]!r} to 'domains'"
            raise placed.error(f"{call.name} belongs to none of the task's domains", fix)
    first, second = (_changes(sandbox, placed) for _ in range(2))
    if first != second:
        (differing, *_) = (first - second) | (second - first)
        raise placed.error(
            f"two runs of the ground truth leave different rows in the table {differing.table}",
            "use now(db) for the time and no random values, or list the column under 'ignore'",
        )
    return Effect(task, tuple(first.elements()))


def _changes(sandbox: OwnSandbox, placed: PlacedTask) -> Counter[StateChange]:
    try:
        with closing(sandbox.fork()) as copy:
            for text in placed.task.answer:
                try:
                    run_text(copy, text)
                except ToolFailure as failure:
                    problem = f"the ground truth fails: {text[:200]}: {failure}"
                    raise placed.error(problem, "correct the call or the tool") from failure
            return Counter(changes_between(sandbox, copy))
    except sqlite3.Error as error:
        raise placed.error(f"the state cannot be compared: {error}", "correct the database") from None


_EXAMPLE = Path(__file__).parent / "own" / "example"
_FACTS = "benchmark.json"


def make_workplace(
    target: Path, sandbox: Path | None = None, tools: Path | None = None, tasks: Path | None = None
) -> tuple[OwnSandbox, list[Effect]]:
    """Make a folder with a database, tools and tasks. It is created only if all of them work together.

    Args:
        target: the new folder; must not exist.
        sandbox: an SQLite file; without one, the bundled example is used. Files are copied and never changed.
        tools: a Python file; requires `sandbox`.
        tasks: a JSON Lines file; requires `tools`.

    Returns:
        The workplace, and the effect of each task.

    Raises:
        UsageError: the folder exists, a file cannot be used, or is given without the one it requires.
    """
    for flag, given, needed, present in (
        ("tools", tools, "sandbox", sandbox),
        ("tasks", tasks, "tools", tools),
    ):
        if given is not None and present is None:
            raise UsageError(f"--{flag} without --{needed}", fix=f"add --{needed} FILE")
    if target.name in ("", ".."):
        raise UsageError("the new folder has no name", fix="name it, e.g. library")
    if target.exists() or target.is_symlink():
        raise UsageError("exists already", file=target, fix="choose another name, or remove it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(target.parent) as folder:
        draft = folder / target.name
        draft.mkdir()
        try:
            copied = {TOOLS: tools or _EXAMPLE / "first_tools.py", TASKS: tasks}
            if sandbox is None:
                copied = {name: _EXAMPLE / name for name in (TOOLS, TASKS, _FACTS)}
                with closing(sqlite3.connect(":memory:")) as library:
                    library.executescript((_EXAMPLE / "library.sql").read_text(encoding="utf-8"))
                    (draft / SANDBOX).write_bytes(library.serialize())
            else:
                now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
                about = {"benchmark": "workbench", "tools": TOOLS, "now": now, "user": "the user"}
                write_json(draft / _FACTS, {**about, "customs": "", "ignore": [], "verbatim": []})
                (draft / SANDBOX).write_bytes(read_database(sandbox))
            for name, source in copied.items():
                try:
                    if source is not None:
                        shutil.copyfile(source, draft / name)
                except OSError as error:
                    problem = f"cannot be read: {error.strerror}"
                    raise UsageError(problem, file=source, fix="check the path") from None
            workplace = load_own(draft)
            if sandbox and not tasks:  # a placeholder for the user to replace
                query = "Do nothing. (Write your own requests here.)"
                domains = [next(iter(toolset_of(workplace).toolkits))]
                write_json_lines(draft / TASKS, [{"query": query, "answer": [], "domains": domains}])
            effects = check_tasks(workplace, draft)
        except UsageError as error:
            message = str(error)  # with the paths of the files that the user gave
            for name, file in ((SANDBOX, sandbox), (TOOLS, tools), (TASKS, tasks)):
                message = message.replace(str(draft / name), str(file or name))
            raise UsageError(message.replace(f"{draft}/", "")) from error
        draft.rename(target)
    return workplace, effects


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
    workplace, effects = make_workplace(Path(target), *given)
    _report(workplace, Path(target), screen)
    if sandbox is not None:
        moment = f"{workplace.now:%Y-%m-%d %H:%M:%S}, by this machine's clock"
        screen.say(
            f"{DataFolder(Path(target)).benchmark_file}: it is {moment}, and agents work for "
            f"{workplace.user}: write there what your tasks need"
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
    files = result_files(Path(results))
    out = Path(out)
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
    metrics = {
        file.name: {**facts, **metrics_of(file_verdicts, file.model, file.tool_selection)}
        for file, file_verdicts in verdicts.items()
    }
    if mode == "strict":
        for file, file_verdicts in verdicts.items():
            runs = (
                scored_task(verdict.task, [scored_run(0, "answered", verdict)]) for verdict in file_verdicts
            )
            metrics[file.name] |= strict_metrics(list(runs))
        for file, repeats in _repeats(verdicts):
            metrics[file.name]["repeats"] = repeats
    lines = (
        {"file": file.name, "row": row, **verdict.to_json()}
        for file, file_verdicts in verdicts.items()
        for row, verdict in enumerate(file_verdicts)
    )
    write_json_lines(out / VERDICTS, lines)
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
            done, changes = replayed.of(call.call for call in sequence.calls)
            yield {**entry, "calls": done, "state_changes": changes}

    count = write_json_lines(Path(out), lines())
    screen.say(f"{out}: {count_of(count, 'sequence')} replayed")
    return count


def _repeats(verdicts: dict[ResultFile, list[RunVerdict]]) -> Iterable[tuple[ResultFile, dict[str, Any]]]:
    """pass@k and pass^k of each model with several runs of the same tasks and settings, by its first file."""
    runs: dict[Any, list[ResultFile]] = defaultdict(list)
    for file, file_verdicts in verdicts.items():
        asked = frozenset(verdict.result.query for verdict in file_verdicts)
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
    sandbox = sandbox_of(tables)
    tasks = draw_tasks(tables, seed)
    with screen.progress("proved", len(tasks)) as advance:
        for task in tasks:
            prove_task(sandbox, task)
            advance()
    write_folder(path, sandbox, tasks, seed)
    screen.say(f"{path}: {len(tasks)} requests")
