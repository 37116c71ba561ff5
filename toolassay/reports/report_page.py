"""The report's page: what it counts over the items of all models, and how it is written."""

from __future__ import annotations

import base64
import gzip
import hashlib
import heapq
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from markupsafe import Markup, escape
from msgspec.structs import asdict

from toolassay.console.tables import printable
from toolassay.evaluation.item_detail import About, ItemAnswer, ItemGold, TrajectoryFigures, confused
from toolassay.evaluation.items import ScoredItem, read_items
from toolassay.files.data_files import atomic_writer
from toolassay.records.dataset import SHAPES
from toolassay.reports.axes import mark_lines
from toolassay.reports.decision import Decision, FolderReport, folder_table
from toolassay.reports.graph_page import content_policy, json_for_script, page_resource, render_page
from toolassay.reports.scoreboard import cells, measured_headings
from toolassay.runs.outcomes import is_scored
from toolassay.runs.recorded_usage import ItemUsage
from toolassay.version import __version__

MOST_ITEMS = 20_000
"""Items that a page shows in detail: a browser holds about 1 KB of each."""


def drawn_ids(files: Iterable[Path], size: int) -> frozenset[str]:
    """Ids drawn from the items of all files by a hash, whatever the order of the files.

    Raises:
        UsageError: a file is malformed.
    """

    def drawn(ids: Iterable[str]) -> list[str]:
        return heapq.nsmallest(
            size, ids, key=lambda item_id: hashlib.sha256(item_id.encode(errors="replace")).digest()
        )

    return frozenset(
        drawn({item_id for path in files for item_id in drawn(item.id for item in read_items(path))})
    )


CHUNK = 200
"""Items per chunk of details, which the page decodes when one of them is opened."""
_SHORT = 160  # characters of a request in the table of items
_SAMPLE = 400  # numbers that a distribution is drawn from
# Rows of a table of the worst confusions and arguments of a model.
_CONFUSIONS = 40
_ARGUMENTS = 40


@dataclass
class _ToolCounts:
    right: int = 0
    extra: int = 0
    missing: int = 0
    harm: int = 0

    def to_json(self) -> dict[str, float | int | None]:
        """Precision, recall, F1 and the number of runs with unwanted changes."""
        called = self.right + self.extra
        wanted_calls = self.right + self.missing
        return {
            "precision": self.right / called if called else None,
            "recall": self.right / wanted_calls if wanted_calls else None,
            "f1": 2 * self.right / (called + wanted_calls) if called + wanted_calls else None,
            "harm": self.harm,
        }


@dataclass
class ModelItems:
    """What is known of the items of one model.

    Attributes:
        rows: Lines of its file of items, by id.
        usage: What each item used, by id.
        answers: Details of each answer as compressed JSON, by id.
        tools: Counts by tool.
        confusions: How often one tool was called in place of another.
        arguments: Wrong or missing, and all, by tool and argument.
        trajectories: Figures of the calls of an agent; empty for other answers.
        calls: How often each tool was called, over all runs.
        runs: Number of runs with an answer.
    """

    rows: Mapping[str, ScoredItem]
    usage: Mapping[str, ItemUsage]
    answers: dict[str, bytes] = field(default_factory=dict)
    tools: dict[str, _ToolCounts] = field(default_factory=dict)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    arguments: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    trajectories: list[TrajectoryFigures] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    runs: int = 0

    def count(self, answer: ItemAnswer) -> None:
        """Count the calls of an answer."""
        self.calls.update(answer.tools)
        self.runs += 1

    def add(self, gold: ItemGold, answer: ItemAnswer, trial: int = 0) -> None:
        """Add the answer to an item in a trial; the page shows that of the first trial."""
        if trial == 0:
            used = self.usage.get(gold.id)
            names = ("prompt_tokens", "completion_tokens", "dollars")
            content = {**asdict(answer), **{name: used and getattr(used, name) for name in names}}
            self.answers[gold.id] = zlib.compress(_encoded(content).encode(), 1)
        if answer.trajectory is not None:
            self.trajectories.append(answer.trajectory)
        if (pair := confused(gold.tools, answer.tools)) is not None:
            self.confusions[pair] += 1
        for tool in answer.harm:
            self._counts(tool).harm += 1
        if answer.gold is None:
            self._add_choice(gold.tools, answer.tools)
            return
        for call in answer.gold.calls:
            counts = self._counts(call.tool)
            if call.status == "right":
                counts.right += 1
            else:
                counts.missing += 1
            for argument in call.arguments:
                argument_counts = self.arguments.setdefault((call.tool, argument.name or "value"), [0, 0])
                argument_counts[0] += argument.status != "right"
                argument_counts[1] += 1
        for call in answer.predicted.calls if answer.predicted else ():
            self._counts(call.tool).extra += call.status != "right"

    def _add_choice(self, accepted: Sequence[str], called: Sequence[str]) -> None:
        """Count a choice: any accepted tool is right, and the other accepted ones are not missing."""
        right_tools = [tool for tool in called if tool in accepted]
        for tool in called:
            counts = self._counts(tool)
            counts.right += tool in accepted
            counts.extra += tool not in accepted
        for tool in accepted[:1] if not right_tools else ():
            self._counts(tool).missing += 1

    def _counts(self, tool: str) -> _ToolCounts:
        return self.tools.setdefault(tool, _ToolCounts())

    @property
    def worst_arguments(self) -> list[list[Any]]:
        """Tool, argument, wrong or missing, all; those that are wrong most often first."""
        wrong_arguments = [
            (-bad, tool, name, uses) for (tool, name), (bad, uses) in self.arguments.items() if bad
        ]
        return [[tool, name, -bad, uses] for bad, tool, name, uses in sorted(wrong_arguments)[:_ARGUMENTS]]

    @property
    def harmful_tools(self) -> dict[str, int]:
        """Number of runs with unwanted changes by tool."""
        return {tool: counts.harm for tool, counts in self.tools.items() if counts.harm}


class FolderPage:
    """The data of one folder.

    Args:
        golds: The items in file order; without any, those of the files of items.
        models: The items of each model, by name.
        files: The file of items of each model, if `golds` are a part of them: scores and outcomes count all.
    """

    def __init__(
        self,
        golds: Iterable[ItemGold],
        models: Mapping[str, ModelItems],
        files: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self.golds = list(golds)
        self.models = models
        self._files = files
        if not self.golds:
            keys = dict.fromkeys(key for model in models.values() for key in model.rows)
            self.golds = [ItemGold(key, "", ()) for key in keys]
        self._groups = list(dict.fromkeys(name for gold in self.golds for name in gold.groups))

    def summary(self, report: FolderReport, harm_score: str = "") -> dict[str, Any]:
        """The data that the page needs at once.

        Args:
            report: The decision about the folder.
            harm_score: Item score that is 0 for an item with unwanted changes.
        """
        names = [model.name for model in report.models]
        golds = self.golds
        score = report.verdict.score
        models = [self.models[name] for name in names]
        columns = [[model.rows.get(gold.id) for gold in golds] for model in models]
        gold_uses = Counter(tool for gold in golds for tool in gold.tools)
        tools = sorted({tool for model in models for tool in model.tools} | gold_uses.keys())
        outcomes = sorted({row.outcome for model in models for row in model.rows.values()})
        facts = [self._facts(gold, models) for gold in golds]
        types = sorted({kind for kind, _ in facts})
        groups = {name: sorted({gold.groups.get(name, "") for gold in golds}) for name in self._groups}
        number = {name: position for position, name in enumerate(tools)}
        usages = [list(model.usage.values()) for model in models]
        return {
            **report.to_json(),
            "score": report.verdict.instead or "right",
            "chunk_size": CHUNK,
            "breakdowns": list(self._breakdowns(facts, names, score)),
            "tools": [_tool_row(tool, gold_uses[tool], models) for tool in tools],
            "confusions": [
                [[*pair, count] for pair, count in model.confusions.most_common(_CONFUSIONS)]
                for model in models
            ],
            "arguments": [model.worst_arguments for model in models],
            "trajectories": [_mean_figures(model.trajectories) for model in models],
            "outcomes": [Counter(row.outcome for row in self._rows(name)) for name in names],
            "seconds": [
                _sample(usage.seconds for usage in usages_of_model if usage.is_answered)
                for usages_of_model in usages
            ],
            "dollars": [_sample(usage.dollars for usage in usages_of_model) for usages_of_model in usages],
            "outcome_names": outcomes,
            "tool_names": tools,
            "type_names": types,
            "type_noun": "shape" if set(types) <= set(SHAPES) else "group",
            "group_names": groups,
            "items": {
                "id": [gold.id for gold in golds],
                "request": [
                    gold.request if len(gold.request) <= _SHORT else f"{gold.request[: _SHORT - 1]}…"
                    for gold in golds
                ],
                "type": [types.index(kind) for kind, _ in facts],
                "size": [size for _, size in facts],
                "tools": [[number[tool] for tool in gold.tools] for gold in golds],
                "groups": {
                    name: [values.index(gold.groups.get(name, "")) for gold in golds]
                    for name, values in groups.items()
                },
                "outcome": [
                    [outcomes.index(row.outcome) if row else None for row in rows] for rows in columns
                ],
                "score": [[_score(row, score) for row in rows] for rows in columns],
                "seconds": [
                    [_rounded(model.usage.get(gold.id)) for gold in golds] if model.usage else None
                    for model in models
                ],
                "harm": [_harmed(rows, harm_score) for rows in columns],
                "trials": [
                    [_trials(row, score) for row in rows]
                    if any(len(row.trials or ()) > 1 for row in rows if row)
                    else None
                    for rows in columns
                ],
            },
        }

    def chunks(self, names: Sequence[str]) -> Iterator[str]:
        """The details of the items as JSON lists of `CHUNK`; the answers are in the order of `names`."""
        models = [self.models[name] for name in names]
        for start in range(0, len(self.golds), CHUNK):
            items = (self._item(gold, models) for gold in self.golds[start : start + CHUNK])
            yield f"[{','.join(items)}]"

    def _item(self, gold: ItemGold, models: Sequence[ModelItems]) -> str:
        """The details of an item as JSON; the answers, which are JSON, are not parsed again."""
        packed = (model.answers.get(gold.id) for model in models)
        answers = ",".join(
            "null" if answer is None else zlib.decompress(answer).decode() for answer in packed
        )
        about = f'"request":{_encoded(gold.request)},"sections":{_encoded(gold.sections)}'
        return f'{{{about},"answers":[{answers}]}}'

    def _facts(self, gold: ItemGold, models: Sequence[ModelItems]) -> tuple[str, int]:
        """Shape and size of an item, from any file of items."""
        row = next((model.rows[gold.id] for model in models if gold.id in model.rows), None)
        return (row.type, row.n_tools) if row else ("", len(gold.tools))

    def _rows(self, name: str) -> Iterable[ScoredItem]:
        return read_items(self._files[name]) if name in self._files else self.models[name].rows.values()

    def _scores(
        self, facts: Sequence[tuple[str, int]], name: str, score: str
    ) -> Iterator[tuple[dict[str, Any], float | None]]:
        """The groups of each item, and its score by a model."""
        if name in self._files:
            for row in self._rows(name):
                yield {"Number of tools": row.n_tools, "": row.type}, _score(row, score)
        else:
            rows = self.models[name].rows
            for gold, (kind, size) in zip(self.golds, facts, strict=True):
                further = {name.capitalize(): gold.groups.get(name, "") for name in self._groups}
                yield {"Number of tools": size, "": kind, **further}, _score(rows.get(gold.id), score)

    def _breakdowns(
        self, facts: Sequence[tuple[str, int]], names: Sequence[str], score: str
    ) -> Iterator[dict[str, Any]]:
        """The mean score by size, by shape or group, and by each further grouping, if there are several."""
        values_of_models = [defaultdict[tuple[str, Any], list[float | None]](list) for _ in names]
        for name, values_of_model in zip(names, values_of_models, strict=True):
            for groups, value in self._scores(facts, name, score):
                for key in groups.items():
                    values_of_model[key].append(value)
        members: dict[str, set[Any]] = {}
        for title, group in (key for values_of_model in values_of_models for key in values_of_model):
            members.setdefault(title, set()).add(group)
        for title, several in members.items():
            is_shape = not title and several <= set(SHAPES)
            if len(several) > 1 and (title or is_shape or not self._groups):
                yield {
                    "title": title or ("Shape" if is_shape else "Group"),
                    "rows": [
                        {
                            "group": str(group),
                            "n": max(
                                len(values_of_model[title, group]) for values_of_model in values_of_models
                            ),
                            "values": [
                                _mean(values_of_model[title, group]) for values_of_model in values_of_models
                            ],
                        }
                        for group in sorted(several)
                    ],
                }


def _tool_row(tool: str, n: int, models: Sequence[ModelItems]) -> dict[str, Any]:
    """The scores of one tool, which `n` gold calls use, for each model that called it or should have."""
    values = [model.tools[tool].to_json() if tool in model.tools else None for model in models]
    return {"tool": tool, "n": n, "values": values}


def _harmed(rows: Sequence[ScoredItem | None], score: str) -> list[int]:
    """The positions of the items in which a model changed what it should not have changed."""
    return [number for number, row in enumerate(rows) if row and row.scores.get(score, 1.0) != 1.0]


def _mean_figures(figures: Sequence[TrajectoryFigures]) -> dict[str, float | None] | None:
    """Means of the figures of an agent's calls: `first_wrong` over the items that have a wrong call."""
    if not figures:
        return None
    names = TrajectoryFigures.__struct_fields__
    means = {name: _mean(getattr(figure, name) for figure in figures) for name in names}
    return {**means, "all_right": _mean(float(figure.first_wrong is None) for figure in figures)}


def _score(row: ScoredItem | None, score: str) -> float | None:
    value = None if row is None or not is_scored(row.outcome) else row.scores.get(score)
    return None if value is None else round(value, 4)


def _trials(row: ScoredItem | None, score: str) -> list[list[Any]] | None:
    """Number, outcome, score and unwanted changes of each run of an item."""
    if row is None:
        return None
    runs = row.trials or ()
    return [[run.trial, run.outcome, run.scores.get(score), run.unwanted] for run in runs]


def _mean(values: Iterable[float | None]) -> float | None:
    known_values = [value for value in values if value is not None]
    return sum(known_values) / len(known_values) if known_values else None


def _rounded(usage: ItemUsage | None) -> float | None:
    if usage is None or not usage.is_answered or usage.seconds is None:
        return None
    return round(usage.seconds, 3)


def _sample(values: Iterable[float | None]) -> list[float]:
    """At most `_SAMPLE` evenly spaced order statistics."""
    ordered = sorted(value for value in values if value is not None)
    if len(ordered) <= _SAMPLE:
        return ordered
    return [ordered[round(position * (len(ordered) - 1) / (_SAMPLE - 1))] for position in range(_SAMPLE)]


# Characters outside ASCII stay escaped: half of a surrogate pair, which JSON may contain, has no UTF-8.
_encoded = json.JSONEncoder(separators=(",", ":"), check_circular=False, default=asdict).encode


_SCRIPTS = ("tabulator.min.js", "chart.umd.min.js", "cytoscape.min.js", "cytoscape-dagre.min.js")
# The first six are of Okabe and Ito; all twelve differ in the light and in the dark.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#8B6BD1", "#A6761D", "#7F7F7F", "#66A61E", "#C2185B", "#A9A900"),
)


@dataclass(frozen=True)
class PageFolder:
    """The content of one data folder.

    Attributes:
        report: The decision about it.
        about: Names of its benchmark.
        summary: Result of `FolderPage.summary`.
        chunks: Result of `FolderPage.chunks`, read once.
    """

    report: FolderReport
    about: About
    summary: dict[str, Any]
    chunks: Iterable[str] = field(default=())


def write_report_page(
    decision: Decision,
    folders: Sequence[PageFolder],
    path: Path,
    *,
    refresh: int = 0,
    live: Sequence[str] = (),
) -> Path:
    """Write the page.

    The details of the items are in compressed chunks of the file, which the page decodes when an item is
    opened, so that it opens at once however many there are. Its content security policy forbids connections,
    and all scripts but its own.

    Args:
        decision: Verdict and requirements.
        folders: One entry per folder of the decision.
        path: HTML file to write.
        refresh: Seconds after which a browser loads the page again; 0 never.
        live: Lines about runs in progress, shown first.

    Returns:
        `path`.

    Raises:
        ToolassayError: The file cannot be written.
    """
    scripts = [page_resource("vendor", name) for name in _SCRIPTS] + [
        page_resource("pages", "report_page.js")
    ]
    style = page_resource("vendor", "tabulator.min.css") + page_resource("pages", "report_page.css")
    models = list(decision.models)
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(models)}
    data = json_for_script({"folders": [folder.summary for folder in folders], "colours": colours})
    token = f"chunks-{hashlib.sha256(data.encode()).hexdigest()}"
    page = render_page(
        "report_page.html",
        policy=content_policy(scripts=scripts, styles=[style]),
        style=style,
        scripts=scripts,
        data=data,
        chunks=token,
        title=f"Report: {', '.join(models) if len(models) < 5 else f'{len(models)} models'}",
        version=__version__,
        refresh=refresh,
        live=live,
        sentences=decision.verdict.sentences,
        folders=[_folder(folder) for folder in folders],
        colours=colours,
        by_folder=folder_table(decision) if len(decision.folders) > 1 else None,
        regressions=[regression.line for regression in decision.regressions],
        remarks=decision.warnings,
        signatures=[
            (f"{model.name}, {folder.title}", model.axes.signature)
            for folder in decision.folders
            for model in folder.models
        ],
        printable=printable,
        sentence=_sentence,
    )
    head, _, tail = page.partition(token)
    with atomic_writer(path) as stream:
        stream.write(head)
        for number, folder in enumerate(folders):
            for position, chunk in enumerate(folder.chunks):
                stream.write(
                    f'<script type="text/plain" id="chunk-{number}-{position}">{packed(chunk)}</script>\n'
                )
        stream.write(tail)
    return path


def _sentence(text: str) -> Markup:
    """A sentence in which no line breaks inside an option, such as `--executor`."""
    return Markup(re.sub(r"--\w+", r'<span class="mark">\g<0></span>', str(escape(printable(text)))))


def packed(text: str) -> str:
    """A text as base64 of gzip, always the same bytes.

    >>> gzip.decompress(base64.b64decode(packed("</script>")))
    b'</script>'
    """
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _folder(folder: PageFolder) -> dict[str, Any]:
    """What the template shows of a folder."""
    models = folder.report.models
    cells_of_models = [cells(model) for model in models]
    return {
        "report": folder.report,
        "about": folder.about,
        "summary": folder.summary,
        "headings": [
            name for name in measured_headings(cells_of_models) if name not in ("accuracy", "to the leader")
        ],
        "rows": list(zip(models, cells_of_models, strict=True)),
        "warnings": [f"{model.name}: {line}" for model in models for line in model.warnings],
        "unmeasured": [
            f"{model.name}: {axis}: {note}"
            for model in models
            for axis, note in model.axes.notes.items()
            if axis != "accuracy"
        ],
        "marks": mark_lines([model.axes for model in models]),
    }
