"""What the command line has for TaskBench: its tables of scores, and `toolassay import taskbench`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from toolassay.benchmarks.taskbench.scoring.scored_rows import COLUMNS, SCORES, PlanMetric
from toolassay.cli.command import command
from toolassay.cli.score_tables import baselines_last, print_marks, print_table, shown
from toolassay.cli.screen import SCREEN, show
from toolassay.console.screen import console
from toolassay.console.tables import UNKNOWN, Cell, Table, percent, whole_percent
from toolassay.declarations import Option
from toolassay.evaluation.evaluation import Evaluation, FolderEvaluation
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.metrics_file import MetricsGroup
from toolassay.metrics import legend

if TYPE_CHECKING:
    import rich.table


class _ScoreRow(NamedTuple):
    name: str
    group: MetricsGroup


_ONLY_IF_WIDE = ("RL", "ED")
_WIDE = 96  # characters of a terminal on which every published column fits
_NAME = 16  # characters of a name before it folds, at least
_LEAST_NAME = 12  # characters of the column of names, which keep it from disappearing on a narrow terminal


def model_table(models: Mapping[str, Evaluation], *, width: int, with_caption: bool) -> rich.table.Table:
    """The group of all labels of several models, which each of them has.

    Args:
        models: the scores of each model.
        width: of the terminal, in characters; a narrow one has no RL and ED unless the user selected them.
        with_caption: whether a caption explains the headings.
    """
    rows = [_ScoreRow(name, scores.groups[OVERALL_GROUP]) for name, scores in models.items()]
    columns = _columns(rows, {metric for scores in models.values() for metric in scores.asked}, width)
    return _table(f"Scores: {OVERALL_GROUP}", "model", columns, rows, width, with_caption=with_caption)


def group_table(model: str, evaluation: Evaluation, *, width: int, with_caption: bool) -> rich.table.Table:
    """All groups of one model that have labels; `width` and `with_caption` are those of `model_table`."""
    rows = [
        _ScoreRow(key, group)
        for key, group in evaluation.groups.items()
        if group.strict["n_labels"] or group.numbers["all_samples"]
    ]
    columns = _columns(rows, set(evaluation.asked), width)
    table = _table(f"Scores of {model}", "group", columns, rows, width, with_caption=with_caption)
    table.columns[0].no_wrap = True
    table.columns[0].max_width = None
    return table


def _columns(rows: Sequence[_ScoreRow], asked: Collection[str], width: int) -> list[PlanMetric]:
    """The columns with a number in any row that fit the terminal or that the user selected by name.

    BERTScore is kept when selected by name even without a number: its column then shows that it is missing.
    """
    chosen = []
    for column in (*COLUMNS, *_installed(rows)):
        by_name = any(metric in asked for metric in column.asked_by)
        is_roomy = width >= _WIDE or column.heading not in _ONLY_IF_WIDE
        has_numbers = any(
            _strict_value(row.group.strict, column.name) is not None or column.compat in row.group.numbers
            for row in rows
        )
        is_kept_empty = by_name and column.heading == "BsF"
        if is_kept_empty or (has_numbers and (by_name or ("all" in asked and is_roomy))):
            chosen.append(column)
    return chosen


def _installed(rows: Sequence[_ScoreRow]) -> list[PlanMetric]:
    """A column for each metric that another package adds; it has no compat number."""
    known = [one.name for one in SCORES]
    names = dict.fromkeys(
        name
        for row in rows
        for name, value in row.group.strict.items()
        if isinstance(value, dict) and "value" in value and name not in known
    )
    return [PlanMetric(name, (name,), name) for name in names]


def _table(
    title: str,
    first: str,
    columns: Sequence[PlanMetric],
    rows: Sequence[_ScoreRow],
    width: int,
    *,
    with_caption: bool,
) -> rich.table.Table:
    headings = [column.heading for column in columns]
    longest = max([12, *(len(row.name) for row in rows)])
    # The columns beside the names take up to 22 characters and 8 for each score with padding, 19 and 7
    # without, and more where a heading is longer than its six characters of numbers.
    more = sum(max(0, len(heading) - 6) for heading in headings)
    is_roomy = width >= longest + 22 + 8 * len(columns) + more
    cells: list[list[str | Cell]] = []
    has_compat = any(row.group.numbers["all_samples"] is not None for row in rows)
    for row in rows:
        strict = row.group.strict
        counts = row.group.counts
        assert counts is not None  # of scores that this version made
        scored, samples = (row.group.numbers[key] for key in ("node_supports", "all_samples"))
        both: list[list[str | Cell]] = [
            [
                *(row.name, Cell("strict", bold=True), counts.phrase, _whole(counts.coverage)),
                *(Cell(_points(_strict_value(strict, column.name)), bold=True) for column in columns),
            ],
            [
                *("", "compat", UNKNOWN if samples is None else str(samples)),
                _whole(scored / samples if samples else None),
                *(_points(_compat_value(row, column.compat)) for column in columns),
            ],
        ]
        cells += both if has_compat else both[:1]
    captions = _captions(columns, rows, has_compat=has_compat) if with_caption else []
    shown = Table((first, "scores", "n", "%", *headings), cells, align="nl", title=title, captions=captions)
    table = shown.terminal(padding=1 if is_roomy else 0)
    table.columns[0].min_width = _LEAST_NAME
    table.columns[0].max_width = None if is_roomy else max(_NAME, width - 19 - 7 * len(columns) - more)
    return table


def _captions(columns: Sequence[PlanMetric], rows: Sequence[_ScoreRow], *, has_compat: bool) -> list[str]:
    by_model = ""
    if any(column.heading == "BsF" for column in columns):
        names = {row.group.parts.get("bertscore", "none") for row in rows}
        by_model = f" BsF: {', '.join(sorted(names))}."
    compat = " compat: as the published evaluator counts, items it cannot read left out." * has_compat
    return [
        "Percent; %: scored of the labels. "
        f"strict: every item that was asked counts, 0 where malformed or refused.{compat}{by_model}",
        legend(column.heading for column in columns),
    ]


def _compat_value(row: _ScoreRow, key: str) -> float | None:
    """The published number; none for links in a group without links, where the published file has 0."""
    if key == "link_binary_f1" and not row.group.strict["compat_links"]:
        return None
    value: float | None = row.group.numbers.get(key)
    return value


def _strict_value(strict: Mapping[str, Any], key: str) -> float | None:
    # Another model may have been scored without this metric.
    value: float | None = strict.get(key, {}).get("value")
    return 1 - value if key == "edit_similarity" and value is not None else value


def _whole(share: float | None) -> str:
    return whole_percent(None if share is None else 100 * share)


def _points(share: float | None) -> str:
    return percent(share, 2, sign="")


def show_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """The scores, and whether further trials gave the same plans."""
    print_scores(evaluations)
    print_stability(evaluations)


def print_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """The models side by side, then each model's groups where there are several; one model, one table."""
    terminal = console()
    width = terminal.width
    scores = {shown(result): result.evaluation for result in baselines_last(evaluations)}
    by_group = [
        name for name, one in scores.items() if len(one.groups) > 1 or OVERALL_GROUP not in one.groups
    ]
    side_by_side = len(scores) > 1 or not by_group
    if scores and side_by_side and all(OVERALL_GROUP in score.groups for score in scores.values()):
        table = model_table(scores, width=width, with_caption=not by_group)
        print_table(table, terminal)
    for name in by_group:
        is_last = name == by_group[-1]
        print_table(group_table(name, scores[name], width=width, with_caption=is_last), terminal)
    print_marks(evaluations)


def print_stability(evaluations: Sequence[FolderEvaluation]) -> None:
    """Whether further trials gave the same plans, of each model that has some."""
    for result in evaluations:
        stability = result.whole.get("stability")
        if not stability or not stability["repeated"]:
            continue
        most = str(stability["trials"])
        sure = stability["pass^k"][most]["value"] if most in stability["pass^k"] else None
        show(
            f"{result.llm}: the same plan in all {most} trials: "
            f"{percent(stability['answer_agreement']['value'])} of {stability['repeated']} requests"
            + ("" if sure is None else f"; pass^{most} (exact match): {percent(sure)}")
        )


@command("taskbench")
def import_command(
    data_dir: Annotated[Path, Option("The data folder; created if missing.", common=True)],
    domain: Annotated[
        Literal["huggingface", "multimedia", "dailylifeapis"],
        Option("Which of the three domains to import.", common=True),
    ],
    hub: Annotated[str, Option("Data set on the Hugging Face hub.")] = "microsoft/Taskbench",
    revision: Annotated[
        str | None, Option("Branch, tag or commit of the data set [default: the newest].")
    ] = None,
    folder: Annotated[
        Path | None,
        Option("Local folder with the files of the data set, instead of the hub.", flags=("--from",)),
    ] = None,
    file: Annotated[str | None, Option("File with the labels, e.g. improved.parquet.")] = None,
    tools: Annotated[
        Path | None,
        Option("A tool_desc.json [default: the one beside the data, else the one of this checkout]."),
    ] = None,
) -> None:
    """Import TaskBench from its repository or the hub: JSON, JSON Lines, Parquet, or a saved data set.

    The hub needs an extra; in the checkout: pip install '.[hub]'.
    """
    from toolassay.benchmarks.taskbench.importing import import_taskbench

    import_taskbench(
        data_dir,
        domain=domain,
        hub=hub,
        revision=revision,
        folder=folder,
        file=file,
        tools=tools,
        screen=SCREEN,
    )
