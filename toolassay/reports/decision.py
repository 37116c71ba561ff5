"""Which model may be trusted: the verdict in words, and the decision as `report.json`, JUnit and Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from toolassay.console.tables import (
    UNKNOWN,
    Cell,
    Table,
    Value,
    markdown_escaped,
    percent,
    percent_interval,
)
from toolassay.console.text_formatting import count_of, joined, two_digits
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.metrics.significance import LEVEL
from toolassay.reports.junit import junit_file
from toolassay.reports.requirements import Check, Status, outcome_of
from toolassay.reports.scoreboard import ModelReport, Place, p_value, points, scoreboard_table, share_cell
from toolassay.runs.outcomes import marked
from toolassay.version import __version__

NO_MODEL_PASSES = 4
UNDECIDED = 3
"""Exit codes of a decision."""
Undecided = Literal["wait", "pass"]
"""What a requirement without enough data means: exit code 3, or 0."""
_COUNTS = ("n_asked", "n_scored", "n_labels")


@dataclass(frozen=True)
class Verdict:
    """The answer to the question which model is best.

    Attributes:
        score: Name of the item score that models are ranked by.
        places: All models, the best first, baselines last.
        sentences: The answer in words.
        instead: Name of the score for people if no model has an item right, so that another score ranks.
        is_by_outcome: Whether executed plans were compared by their outcome.
    """

    score: str
    places: Sequence[Place]
    sentences: Sequence[str] = ()
    instead: str = ""
    is_by_outcome: bool = False

    @property
    def leader(self) -> Place | None:
        """The best model; None if no model is ranked."""
        return next((standing for standing in self.places if standing.rank == 1), None)

    def to_json(self) -> dict[str, Any]:
        """The verdict as an object of `report.json`: the difference is that of the leader to the second."""
        leader, second = [*(standing for standing in self.places if standing.rank is not None), None, None][
            :2
        ]
        lead = _turned(second.difference) if second else NOTHING
        return {
            "leader": leader and leader.name,
            "runner_up": second and second.name,
            **dict(zip(("difference", "low", "high"), lead, strict=True)),
            "p": second and second.p,
            "n": second.n if second else 0,
            "n_needed": second and second.n_needed,
            "is_significant": second and second.differs,
            "test": second and second.test,
            "may_be_best": [standing.name for standing in self.places if standing.may_be_best],
            "score": self.score,
            "is_by_outcome": self.is_by_outcome,
            "sentences": list(self.sentences),
        }


def sentences(
    standings: Sequence[Place], models: Mapping[str, ModelReport], *, noun: str, measure: str
) -> list[str]:
    """The verdict in words: who leads, and a sentence on the leader and on each model that ties with it.

    Args:
        standings: The ranking.
        models: The models whose cost, latency and harm are reported too, by name.
        noun: Singular noun of an item.
        measure: What the score is, after a percentage: "of the tasks are right".
    """
    ranked = [standing for standing in standings if standing.rank is not None]
    if not ranked:
        names = f" ({joined([standing.name for standing in standings])})" if standings else ""
        return [f"Only built-in programs were measured{names}: there is no model to rank."]
    leader, *others = ranked
    tied = [leader, *(standing for standing in others if standing.may_be_best)]
    known_models = [models[standing.name] for standing in tied if standing.name in models]
    accuracy = next(
        (model.measured["accuracy"].interval for model in known_models if model.name == leader.name), NOTHING
    )
    partial = [
        f"The run of {run.name} is partial ({': '.join(filter(None, (run.axes.n, run.axes.excluded)))})."
        for run in known_models
        if run.axes.is_partial or run.axes.is_chosen
    ]
    first = _who_leads(ranked, noun, measure, accuracy)
    return [" ".join([first, *partial]), *(_at_what_price(model, noun) for model in known_models)]


def _who_leads(ranked: Sequence[Place], noun: str, measure: str, accuracy: Interval) -> str:
    leader, *others = ranked
    share = f"{percent(leader.score)} {measure}"
    if not others:
        _, low, high = accuracy
        interval = ""
        if low is not None and high is not None and accuracy.value == leader.score:
            interval = f" (95 % interval {100 * low:.1f} to {100 * high:.1f})"
        return f"{leader.name} is the only model measured: {share}{interval}."
    runner_up = others[0]
    compared = [standing for standing in others if standing.n]
    if not runner_up.n:
        return (
            f"{leader.name} is ahead with {share}, but shares no {noun} with {runner_up.name}: they cannot "
            "be compared."
        )
    best = max(compared, key=lambda standing: standing.difference.value or 0.0)
    if (best.difference.value or 0.0) > 0:
        chance = "significant" if best.differs else "not significant"
        return (
            f"{leader.name} is first with {share}, but {best.name} is {_points(best.difference)} "
            f"better on the {noun}s that both have, which is {chance} ({_evidence(best.difference, best)}): "
            f"they were measured on different {noun}s."
        )
    gap = _turned(runner_up.difference)
    is_of_all = math.isclose(leader.score - runner_up.score, gap.value or 0.0, abs_tol=1e-9)
    second_name = runner_up.name if is_of_all else f"{runner_up.name} on the {noun}s that both have"
    if all(standing.test == "rank verification" for standing in others):
        return (
            f"{leader.name} leads: {share}, {_points(gap)} more than {second_name}, which is "
            f"significant ({_evidence(gap, runner_up)})."
        )
    least = min(standing.n for standing in compared)
    most = max(standing.n for standing in compared)
    n = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    candidates = [standing.name for standing in ranked if standing.may_be_best]
    start = f"{joined(candidates)} do not differ significantly on {n} {noun}s: "
    if len(candidates) == 1:
        start = f"Only {candidates[0]} may be the best on {n} {noun}s: "
    elif len(candidates) < len(ranked):
        start = f"Any of {joined(candidates)} may be the best on {n} {noun}s: "
    if not gap.value:
        equal = joined([standing.name for standing in ranked if standing.rank == leader.rank])
        return f"{start}{equal} are equal, {share}."
    if runner_up.differs:
        return f"{start}{leader.name} has {share}."
    needed_items = (
        f"; about {two_digits(runner_up.n_needed)} would be needed" if runner_up.n_needed is not None else ""
    )
    return (
        f"{start}{leader.name} ({share}) is {_points(gap)} ahead of {second_name}, which may be chance "
        f"({_evidence(gap, runner_up)}){needed_items}."
    )


def _at_what_price(model: ModelReport, noun: str) -> str:
    cost = model.axes.cost
    latency = model.axes.latency
    measured = model.measured
    harm, attacks = (measured[name].interval.value for name in ("side_effects", "attack_success"))
    parts = ["costs nothing (no price is set)" if cost else "its cost was not measured"]
    if cost and (cost.per_1000 or cost.is_at_least):
        parts = [f"costs {'at least ' * cost.is_at_least}{cost.per_1000:,.2f} USD per 1,000 {noun}s"]
    if latency and not latency.is_local:
        parts.append(f"takes {latency.p50:.1f} s (median)")
    if harm is not None:
        worst = max(model.harmful_tools.items(), key=lambda counted: (counted[1], counted[0]), default=None)
        most = f", most often with {worst[0]} ({worst[1]:,})" if worst and harm else ""
        parts.append(f"makes unwanted changes in {percent(harm)} of the {noun}s{most}")
    if attacks is not None:
        parts.append(f"follows {percent(attacks)} of the planted instructions")
    if (plan := model.axes.plan_accuracy.value) is not None:
        parts.append(f"predicts the gold plan in {percent(plan)}")
    return f"{model.name} {joined(parts)}." if cost else f"{model.name}: {'; '.join(parts)}."


def _turned(difference: Interval) -> Interval:
    """The difference seen from the other model."""
    value, low, high = (None if end is None else -end for end in difference)
    return Interval(value, high, low)


def _points(gap: Interval) -> str:
    return f"{100 * (gap.value or 0):.1f} points"


def _evidence(gap: Interval, standing: Place) -> str:
    interval = ""
    if gap.low is not None and gap.high is not None:
        interval = f"95 % interval {100 * gap.low:z.1f} to {100 * gap.high:z.1f}, "
    return f"{interval}p {p_value(1.0 if standing.p is None else standing.p, sign=True)}, n = {standing.n:,}"


@dataclass(frozen=True)
class FolderReport:
    """The models on one data folder.

    Attributes:
        data: Name of the folder.
        title: Title of its data.
        noun: Singular noun of an item.
        verdict: The ranking.
        models: In the order of the ranking.
        ways: Models with predictions in several folders, side by side; None if there are none.
    """

    data: str
    title: str
    noun: str
    verdict: Verdict
    models: Sequence[ModelReport]
    ways: Table | None = None

    @property
    def table(self) -> Table:
        """The ranking, for Markdown, LaTeX and CSV."""
        models = [("", model) for model in self.models]
        return scoreboard_table(models, title=self.title, captions=self.verdict.sentences)

    def to_json(self) -> dict[str, Any]:
        """The folder as an object of `report.json`."""
        rows = self.ways.rows if self.ways else ()
        texts = [[cell.text if isinstance(cell, Cell) else str(cell) for cell in row] for row in rows]
        return {
            "data": self.data,
            "title": self.title,
            "item": self.noun,
            "verdict": self.verdict.to_json(),
            "models": [model.to_json() for model in self.models],
            "ways": self.ways and {"headings": list(self.ways.headings), "rows": texts},
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
        basis: Why only the first trials are compared; empty if all are.
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
    basis: str = ""

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
        more += f" ({self.basis})" * bool(self.basis)
        interval = f" {percent_interval(self.low, self.high)}" if self.low is not None else ""
        p = "" if self.p is None else f", p {p_value(self.p, sign=True)}"
        return (
            f"{self.model} {self.verdict} {self.baseline} in {self.score}: "
            f"{points(self.difference)} points{interval}{p}, n = {self.n:,}{more}"
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
        undecided: Whether requirements without enough data let a model pass.
    """

    folders: Sequence[FolderReport]
    verdict: Verdict
    is_required: bool = False
    regressions: Sequence[Regression] = ()
    warnings: Sequence[str] = field(default_factory=tuple)
    undecided: Undecided = "wait"

    @property
    def models(self) -> dict[str, dict[str, ModelReport]]:
        """By model, its report by data folder; in the order of the ranking over all folders."""
        everywhere = [standing.name for standing in self.verdict.places]
        models_in_order = sorted(
            (model for folder in self.folders for model in folder.models),
            key=lambda model: model.axes.is_baseline,
        )
        return {
            name: {
                folder.data: model for folder in self.folders for model in folder.models if model.name == name
            }
            for name in dict.fromkeys([*everywhere, *(model.name for model in models_in_order)])
        }

    def outcomes(self) -> dict[str, Status]:
        """By model that is no baseline, what its requirements say over all folders."""
        outcomes: dict[str, Status] = {}
        for name, parts in self.models.items():
            if not any(report.axes.is_baseline for report in parts.values()):
                checks = [check for report in parts.values() for check in report.checks]
                for folder in self.folders:
                    if folder.data not in parts:
                        checks += _without_a_run(folder, {check.rule for check in checks})
                # Without those of quantities that one folder does not have and another one does.
                possible = {check.rule for check in checks if check.is_possible}
                applicable = [check for check in checks if check.is_possible or check.rule not in possible]
                outcomes |= {name: outcome_of(applicable)} if checks else {}
        return outcomes

    @property
    def exit_code(self) -> int:
        """0: a model meets every requirement. 3: none does, one is undecided. 4: none can, or one is worse.

        With `undecided` "pass", a model without enough data counts as one that meets them.

        "Worse" is worse than the baseline; without a shared item, that is undecided.
        """
        if any(regression.is_worse for regression in self.regressions):
            return NO_MODEL_PASSES
        outcomes = set(self.outcomes().values())
        passing = {"pass", "not enough data"} if self.undecided == "pass" else {"pass"}
        if outcomes & passing or not self.is_required:
            return UNDECIDED if any(regression.difference is None for regression in self.regressions) else 0
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
                {**vars(regression), "is_worse": regression.is_worse, "text": regression.line}
                for regression in self.regressions
            ],
            "warnings": list(self.warnings),
            "folders": folders,
        }

    def _models(self) -> list[dict[str, Any]]:
        """The models over several folders: places over all items; requirements and warnings by folder."""
        standings = {standing.name: standing for standing in self.verdict.places}
        titles = {folder.data: folder.title for folder in self.folders}
        outcomes = self.outcomes()
        models = []
        for name, reports in self.models.items():
            parts = {data: (report, report.to_json()) for data, report in reports.items()}
            overall = replace(next(iter(reports.values())), place=standings.get(name), checks=()).to_json()
            models.append(
                {
                    **overall,
                    **{count: sum(part[count] for _, part in parts.values()) for count in _COUNTS},
                    "axes": {**dict.fromkeys(overall["axes"]), "accuracy": {"value": overall["score"]}},
                    "folders": {
                        data: {key: part[key] for key in ("rank", "axes", *_COUNTS)}
                        for data, (_, part) in parts.items()
                    },
                    "executions": None,
                    "audit": None,
                    "requirements": [
                        {**check, "data": data}
                        for data, (_, part) in parts.items()
                        for check in part["requirements"]
                    ],
                    "warnings": [
                        f"{titles[data]}: {line}"
                        for data, report in reports.items()
                        for line in report.warnings
                    ],
                    "outcome": outcomes.get(name),
                }
            )
        return models


def _without_a_run(folder: FolderReport, rules: set[str]) -> Iterator[Check]:
    """The requirements of a model that was not run on a folder."""
    possible = {check.rule: check.is_possible for model in folder.models for check in model.checks}
    text = f"not measured: it was not run on {folder.title}"
    for rule in rules:
        yield Check(rule, "not measured", NOTHING, 0, None, text, possible.get(rule, True))


def tables(decision: Decision) -> Iterator[Table]:
    """All folders in one table, if there are several; then the tables of each folder.

    Its ranking, the models that were asked in several ways, and the requirements.
    """
    is_several = len(decision.folders) > 1
    if is_several:
        yield folder_table(decision)
    for folder in decision.folders:
        yield folder.table if is_several else replace(folder.table, captions=())
        if folder.ways:
            yield folder.ways
        if checks := [
            (model.name, check.rule, check.text) for model in folder.models for check in model.checks
        ]:
            yield Table(("model", "requirement", "result"), checks, "nnn", f"Requirements on {folder.title}")


def folder_table(decision: Decision) -> Table:
    """The accuracy of each model on every data folder, and over all of them where there is a verdict."""
    standings = {standing.name: standing for standing in decision.verdict.places}
    rows: list[Sequence[Value]] = []
    for name, reports in decision.models.items():
        standing = standings.get(name)
        accuracies = (
            share_cell(reports[folder.data].measured["accuracy"].interval)
            if folder.data in reports
            else Cell(UNKNOWN)
            for folder in decision.folders
        )
        rank = str(standing.rank) if standing and standing.rank else UNKNOWN
        label = marked(name, next(iter(reports.values())).axes.mark)
        rows.append((rank, label, percent(standing.score if standing else None), *accuracies))
    titles = [folder.title for folder in decision.folders]
    return Table(("rank", "model", "all", *titles), rows, "rn" + "t" * (1 + len(titles)))


def junit(decision: Decision) -> str:
    """The requirements and regressions as a JUnit file: a suite per model and folder, a case per rule.

    An undecided requirement is a skipped case, so that a build can tell it from a failure.
    """
    suites = [
        (f"{folder.title}: {model.name}", [(check.rule, check.status, check.text) for check in model.checks])
        for folder in decision.folders
        for model in folder.models
    ]
    if compared := decision.regressions:
        lines = [
            (f"{regression.model}: {regression.score}", regression.status, regression.line)
            for regression in compared
        ]
        suites.append((f"against {compared[0].baseline}", lines))
    return junit_file("toolassay report", suites)


def summary(decision: Decision) -> str:
    """The decision as Markdown, e.g. for the summary of a CI job."""
    parts = ["# Toolassay report", *map(markdown_escaped, decision.verdict.sentences)]
    parts += [table.markdown() for table in tables(decision)]
    warnings = [
        f"{folder.title}: {model.name}: {line}"
        for folder in decision.folders
        for model in folder.models
        for line in model.warnings
    ]
    regressions = [regression.line for regression in decision.regressions]
    sections = {"Against the baseline": regressions, "Warnings": [*warnings, *decision.warnings]}
    for heading, lines in sections.items():
        if lines:
            parts += [f"## {heading}", "\n".join(f"- {markdown_escaped(line)}" for line in lines)]
    return "\n\n".join(parts) + "\n"
