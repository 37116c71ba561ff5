"""The decision about the models of a report; as `report.json`, JUnit and Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree import ElementTree

from toolassay.metrics.confidence_interval import NOTHING
from toolassay.metrics.significance import LEVEL
from toolassay.report.axes.axes import Axes, Latency
from toolassay.report.decision.measured import shown_axes
from toolassay.report.decision.requirements import Check, Measured, Status, outcome_of
from toolassay.report.decision.verdict import Place, Verdict, p_value
from toolassay.runs.marks import marked
from toolassay.tables import (
    UNKNOWN,
    Cell,
    Table,
    Value,
    markdown_escaped,
    money,
    percent,
    percent_interval,
    printable,
    seconds,
)
from toolassay.text_formatting import count_of
from toolassay.version import __version__

NO_MODEL_PASSES, UNDECIDED = 4, 3
"""Exit codes of a decision."""


@dataclass(frozen=True)
class ModelReport:
    """One model on one data folder.

    Attributes:
        axes: Its five axes.
        place: Its place in the ranking; None without a file of items.
        measured: Its quantities, by name.
        checks: Its requirements.
        warnings: What a reader must know before trusting its numbers.
    """

    axes: Axes
    place: Place | None
    measured: Mapping[str, Measured]
    checks: Sequence[Check] = ()
    warnings: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.axes.model

    @property
    def n_scored(self) -> int:
        """Number of items that were scored."""
        return int(self.axes.counts.get("n_scored", self.axes.items))

    def to_json(self) -> dict[str, Any]:
        """The model as an object of `report.json`."""
        place, counts = self.place, self.axes.counts
        versus = place is not None and place.n
        return {
            "name": self.name,
            "label": marked(self.axes.model, self.axes.mark),
            "rank": place.rank if place else None,
            "is_baseline": self.axes.is_baseline,
            "n_asked": counts.get("n_asked", self.axes.items),
            "n_scored": self.n_scored,
            "n_labels": counts.get("n_labels", self.axes.items),
            "score": place.score if place else None,
            "versus_leader": (
                {
                    "difference": place.difference.value,
                    "low": place.difference.low,
                    "high": place.difference.high,
                    "p": place.p,
                    "n": place.n,
                    "is_significant": place.differs,
                }
                if place and versus
                else None
            ),
            "axes": shown_axes(self.axes, self.measured),
            "executions": self.axes.outcomes and self.axes.outcomes.to_json(),
            "requirements": [one.to_json() for one in self.checks],
            "outcome": outcome_of(self.checks) if self.checks else None,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class FolderReport:
    """The models on one data folder.

    Attributes:
        data: Name of the folder.
        title: Title of its data.
        noun: Singular noun of an item.
        verdict: The ranking.
        models: In the order of the ranking.
        warnings: Warnings about the folder.
    """

    data: str
    title: str
    noun: str
    verdict: Verdict
    models: Sequence[ModelReport]
    warnings: Sequence[str] = ()

    def checks_without_a_run(self, rules: Collection[str]) -> list[Check]:
        """The requirements of a model that was not run here."""
        possible = {one.rule: one.is_possible for model in self.models for one in model.checks}
        text = f"not measured: it was not run on {self.title}"
        return [
            Check(rule, "not measured", NOTHING, 0, None, text, possible.get(rule, True)) for rule in rules
        ]

    def to_json(self) -> dict[str, Any]:
        """The folder as an object of `report.json`."""
        return {
            "data": self.data,
            "title": self.title,
            "item": self.noun,
            "verdict": self.verdict.to_json(),
            "models": [model.to_json() for model in self.models],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class Regression:
    """A score that is compared with a baseline.

    Attributes:
        model: Name of the model.
        baseline: Name or file of the baseline.
        score: Name of the item score.
        difference: Model minus baseline.
        low: Lower bound of the difference.
        high: Upper bound.
        p: p-value with Holm's correction.
        n: Number of shared items, or of attacks.
        confusions: Pairs of tools that are confused more often than before, as (gold, called, before, now).
    """

    model: str
    baseline: str
    score: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    confusions: Sequence[tuple[str, str, int, int]] = ()

    @property
    def is_worse(self) -> bool:
        """Whether the model is worse at p < 0.05."""
        return self.verdict == "is worse than"

    @property
    def verdict(self) -> str:
        """How the model compares with the baseline at p < 0.05."""
        if self.p is None or self.p >= LEVEL or not self.difference:
            return "does not differ significantly from"
        return "is better than" if self.difference > 0 else "is worse than"

    @property
    def status(self) -> Status:
        """The result as that of a requirement."""
        if self.difference is None:
            return "not measured"
        return "fail" if self.is_worse else "pass"

    @property
    def line(self) -> str:
        """The result in one line."""
        if self.difference is None:
            return f"{self.model} and {self.baseline} share no item with the score {self.score}"
        more = "".join(
            f"; {gold} is taken for {called} {count_of(now, 'time')} (before: {before})"
            for gold, called, before, now in self.confusions
        )
        interval = f" {percent_interval(self.low, self.high)}" if self.low is not None else ""
        p = "" if self.p is None else f", p {p_value(self.p, sign=True)}"
        return (
            f"{self.model} {self.verdict} {self.baseline} in {self.score}: "
            f"{100 * self.difference:+.1f} points{interval}{p}, n = {self.n:,}{more}"
        )


@dataclass(frozen=True)
class Decision:
    """The decision over all data folders.

    Attributes:
        folders: One entry per data folder.
        verdict: Verdict over all items of all folders; that of the folder if there is one.
        is_required: Whether there are requirements.
        regressions: Comparisons with the baseline.
        warnings: Warnings about the report.
    """

    folders: Sequence[FolderReport]
    verdict: Verdict
    is_required: bool = False
    regressions: Sequence[Regression] = ()
    warnings: Sequence[str] = field(default_factory=tuple)

    def outcomes(self) -> dict[str, Status]:
        """By model that is no baseline, what its requirements say over all folders."""
        checks: dict[str, list[Check]] = {}
        for folder in self.folders:
            for model in folder.models:
                if not model.axes.is_baseline:
                    checks.setdefault(model.name, []).extend(model.checks)
        for folder in self.folders:
            there = {model.name for model in folder.models}
            for name in checks.keys() - there:
                checks[name] += folder.checks_without_a_run({one.rule for one in checks[name]})
        return {name: outcome_of(_applicable(found)) for name, found in checks.items() if found}

    @property
    def exit_code(self) -> int:
        """0: a model meets every requirement. 3: none does, one is undecided. 4: none can, or one is worse.

        "Worse" is worse than the baseline; without a shared item, that is undecided.
        """
        if any(one.is_worse for one in self.regressions):
            return NO_MODEL_PASSES
        outcomes = set(self.outcomes().values())
        if "pass" in outcomes or not self.is_required:
            return UNDECIDED if any(one.difference is None for one in self.regressions) else 0
        return UNDECIDED if outcomes - {"fail"} or not outcomes else NO_MODEL_PASSES

    def to_json(self) -> dict[str, Any]:
        """The content of `report.json`."""
        folders = [folder.to_json() for folder in self.folders]
        return {
            "toolassay": __version__,
            "verdict": self.verdict.to_json(),
            "models": folders[0]["models"] if len(folders) == 1 else self._models(),
            "outcomes": self.outcomes(),
            "regressions": [
                {**vars(one), "is_worse": one.is_worse, "text": one.line} for one in self.regressions
            ],
            "warnings": list(self.warnings),
            "folders": folders,
        }

    def _models(self) -> list[dict[str, Any]]:
        """The models over several folders: places over all items; requirements and warnings by folder."""
        found = []
        places: dict[str, Place | None] = {place.name: place for place in self.verdict.places}
        for folder in self.folders:
            places |= {model.name: None for model in folder.models if model.name not in places}
        for name, place in places.items():
            parts = [
                (folder, model) for folder in self.folders for model in folder.models if model.name == name
            ]
            whole = ModelReport(parts[0][1].axes, place, parts[0][1].measured).to_json()
            found.append(
                whole
                | {name: sum(model.to_json()[name] for _, model in parts) for name in _COUNTS}
                | {"axes": {**dict.fromkeys(whole["axes"]), "accuracy": {"value": whole["score"]}}}
                | {"folders": {folder.data: _in_folder(model) for folder, model in parts}, "executions": None}
                | {
                    "requirements": [
                        check.to_json() | {"data": folder.data}
                        for folder, model in parts
                        for check in model.checks
                    ],
                    "warnings": [
                        f"{folder.title}: {line}" for folder, model in parts for line in model.warnings
                    ],
                    "outcome": self.outcomes().get(name),
                }
            )
        return found


_COUNTS = ("n_asked", "n_scored", "n_labels")


def _in_folder(model: ModelReport) -> dict[str, Any]:
    """Rank and axes of a model on one of several folders."""
    return {name: value for name, value in model.to_json().items() if name in ("rank", "axes", *_COUNTS)}


def folder_table(decision: Decision) -> Table:
    """The accuracy of each model on every data folder, and over all of them where there is a verdict."""
    places = {place.name: place for place in decision.verdict.places}
    reports = {(folder.data, model.name): model for folder in decision.folders for model in folder.models}
    names = dict.fromkeys([*places, *(name for _, name in reports)])
    rows: list[Sequence[Value]] = []
    for name in names:
        found = [reports.get((folder.data, name)) for folder in decision.folders]
        mark = next(one.axes.mark for one in found if one)
        cells = [_accuracy(one) if one else Cell(UNKNOWN) for one in found]
        place = places.get(name)
        rank = str(place.rank) if place and place.rank else UNKNOWN
        rows.append((rank, marked(name, mark), percent(place.score if place else None), *cells))
    titles = [folder.title for folder in decision.folders]
    return Table(("rank", "model", "all", *titles), rows, "rn" + "t" * (1 + len(titles)))


def _accuracy(model: ModelReport) -> Cell:
    value, low, high = model.measured["accuracy"].interval
    return Cell(percent(value), percent_interval(low, high))


def _applicable(checks: Sequence[Check]) -> list[Check]:
    """The checks without those of quantities that one folder does not have and another one does."""
    possible = {one.rule for one in checks if one.is_possible}
    return [one for one in checks if one.is_possible or one.rule not in possible]


def junit(decision: Decision) -> str:
    """The requirements and regressions as a JUnit file: a suite per model and folder, a case per rule.

    An undecided requirement is a skipped case, so that a build can tell it from a failure.
    """
    root = ElementTree.Element("testsuites", name="toolassay report")
    for folder in decision.folders:
        for model in folder.models:
            if model.checks:
                cases = [(one.rule, one.status, one.text) for one in model.checks]
                _suite(root, f"{folder.title}: {model.name}", cases)
    worse = [(f"{one.model}: {one.score}", one.status, one.line) for one in decision.regressions]
    if worse:
        _suite(root, f"against {decision.regressions[0].baseline}", worse)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, name: str, cases: Sequence[tuple[str, str, str]]) -> None:
    facts = {
        "name": printable(name),
        "tests": str(len(cases)),
        "failures": str(sum(status == "fail" for _, status, _ in cases)),
        "skipped": str(sum(status not in ("pass", "fail") for _, status, _ in cases)),
    }
    suite = ElementTree.SubElement(root, "testsuite", facts)
    for rule, status, text in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=printable(name), name=printable(rule))
        if status != "pass":
            ElementTree.SubElement(
                case, "failure" if status == "fail" else "skipped", message=printable(text)
            )


def summary(decision: Decision) -> str:
    """The decision as Markdown, e.g. for the summary of a CI job."""
    return "\n".join(_summary_lines(decision)) + "\n"


def _summary_lines(decision: Decision) -> Iterator[str]:
    yield "# Toolassay report"
    if len(decision.folders) > 1:
        yield from ("", *(markdown_escaped(line) for line in decision.verdict.sentences))
        yield from ("", folder_table(decision).markdown())
    for folder in decision.folders:
        table = replace(model_table(folder), title="", captions=())
        yield from ("", f"## {markdown_escaped(folder.title)}", "")
        yield from (markdown_escaped(line) for line in folder.verdict.sentences)
        yield from ("", table.markdown())
        checked = [model for model in folder.models if model.checks]
        if checked:
            yield from ("", "| model | requirement | result |", "| --- | --- | --- |")
            for model in checked:
                for one in model.checks:
                    cells = (model.name, one.rule, one.text)
                    yield f"| {' | '.join(markdown_escaped(cell) for cell in cells)} |"
        warnings = [f"{model.name}: {line}" for model in folder.models for line in model.warnings]
        if warnings or folder.warnings:
            yield ""
        yield from (f"- {markdown_escaped(line)}" for line in [*warnings, *folder.warnings])
    if decision.regressions:
        yield from ("", "## Against the baseline", "")
        yield from (f"- {markdown_escaped(one.line)}" for one in decision.regressions)
    if decision.warnings:
        yield ""
        yield from (f"- {markdown_escaped(line)}" for line in decision.warnings)


def model_table(folder: FolderReport) -> Table:
    """The ranking as a table, for Markdown, LaTeX and CSV."""
    rows: list[Sequence[Value]] = []
    for model in folder.models:
        place, harm = model.place, model.measured["side_effects"].interval
        gap = place.difference if place is not None else NOTHING
        rows.append(
            (
                str(place.rank) if place and place.rank else UNKNOWN,
                marked(model.name, model.axes.mark),
                _accuracy(model),
                Cell(_points(gap.value), percent_interval(gap.low, gap.high)),
                UNKNOWN if place is None or place.p is None else p_value(place.p),
                Cell(percent(harm.value), percent_interval(harm.low, harm.high)),
                money(model.axes.cost.per_1000, at_least=model.axes.cost.is_at_least)
                if model.axes.cost
                else UNKNOWN,
                _median(model.axes.latency),
                model.axes.n,
                percent(model.axes.plan_accuracy.value),
            )
        )
    return Table(_HEADINGS, rows, "rntttttttt", folder.title, folder.verdict.sentences)


_HEADINGS = (
    "rank",
    "model",
    "accuracy",
    "to the leader",
    "p",
    "side effects",
    "USD / 1,000",
    "s p50",
    "n",
    "gold plan",
)


def _median(latency: Latency | None) -> str:
    return UNKNOWN if latency is None else seconds(latency.p50, local=latency.is_local)


def _points(share: float | None) -> str:
    return UNKNOWN if share is None else f"{100 * share:+.1f}"
