"""Judges agents and executed plans by what they bring about, and writes the verdicts beside the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from toolassay.answers.expected import Expected
from toolassay.answers.judge import FactQuestion, judged_facts
from toolassay.benchmarks.registry import benchmark_of
from toolassay.console.screen import WARNING, Screen
from toolassay.console.tables import Table
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.items import items_path, read_items
from toolassay.evaluation.metrics_file import signature_text
from toolassay.evaluation.places import recorded_model
from toolassay.executors.outcome import OutcomeLine, OutcomeSummary, OutcomeVerdict
from toolassay.executors.plan_run import compared_execution
from toolassay.files.data_files import read_json_lines, sha256_of, write_json, write_json_lines
from toolassay.metrics.pass_k import NO_RUN, stability_metrics
from toolassay.plans.execution_record import FILE, RUN, SIMULATOR, WORLD, Execution, read_executions
from toolassay.records.cases import is_case
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import LastLabels, RequestId
from toolassay.records.requests import key_of
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import Trial, fingerprint, same_settings, trials_of
from toolassay.version import __version__

_MOST_NAMED = 5  # requests in a line of the screen
_MOST_COMPARED = 30  # facts that the rule has decided and a judge sees, too


def same_trials(predictions: Path) -> list[Trial]:
    """The trials of a prediction file with the settings of the first one."""
    model = recorded_model(predictions.parent, predictions.stem)
    return same_settings(trials_of(predictions.parent, model))[0]


def executions_file(trial: Trial) -> Path:
    """The file of what a trial's calls did."""
    return trial.folder / "executions" / f"{trial.output.stem}.jsonl"


def own_executor(predictions: Path) -> str:
    """The executor with which a run made the calls of its predictions itself; empty for plans."""
    settings = recorded_settings(predictions.parent / "runs" / predictions.stem) or {}
    return str(settings.get("executor", ""))


def expected_items(folder: DataFolder, gold: Mapping[Any, Execution]) -> dict[RequestId, Expected]:
    """What each item must bring about; items about which nothing is known are left out.

    Args:
        folder: Data folder.
        gold: The executions of gold plans that ran, by id.
    """
    items: dict[RequestId, Expected] = {name: Expected(execution) for name, execution in gold.items()}
    for _, label in LastLabels(folder.data) if folder.data.is_file() else ():
        name = label["id"]
        if (expected := Expected.of(label, gold.get(name))) is not None:
            items[name] = expected
    return items


def _answers(trial: Trial) -> dict[RequestId, str]:
    """The final texts of an agent."""
    return {line["id"]: line.get("answer", "") for _, line in read_json_lines(trial.output)}


def judge_agent(
    folder: DataFolder,
    predictions: Path,
    metrics: Path,
    screen: Screen,
    judging: RunSettings | None = None,
) -> OutcomeSummary | None:
    """Judge an agent by what its calls did, in all trials; None if it made none, or gold was not executed so.

    Args:
        folder: Data folder, with the executions of its gold plans.
        predictions: Prediction file of the agent; `executions/` beside it has what its calls did.
        metrics: Metrics file of these predictions.
        screen: Receives the verdicts, or why there are none.
        judging: The judge of undecided facts, and its server; None for none.
    """
    executor = own_executor(predictions)
    trials = same_trials(predictions)
    if not executor or not executions_file(trials[0]).is_file():
        return None
    by_trial = {
        trial.number: list(read_executions(file))
        for trial in trials
        if (file := executions_file(trial)).is_file()
    }
    # Otherwise its plans were executed later.
    if {execution.executor for execution in by_trial[trials[0].number]} != {executor}:
        return None
    gold = gold_executions(folder) if (folder.path / FILE).exists() else {}
    start = {execution.state_before.digest for execution in gold.values() if execution.state_before}
    begun = {
        execution.state_before.digest
        for every in by_trial.values()
        for execution in every
        if execution.state_before
    }
    ignore = (recorded_settings(folder.path / RUN) or {}).get("ignore", [])
    problem = ""
    is_like_gold = {execution.executor for execution in gold.values()} == {executor}
    if executor in (SIMULATOR, WORLD) and not is_like_gold:
        return None
    has_samples = any(not is_case(label) for _, label in LastLabels(folder.data))
    if not is_like_gold and (gold or has_samples):
        problem = (
            f"no gold plan was executed with '{executor}': run {as_called('execute')}, then evaluate again"
        )
    elif len(start) == 1 and not ignore and begun - start:
        problem = "the gold plans were executed on another workspace: execute them on that of the agent"
    if problem:
        screen.say(f"{WARNING}{predictions.stem}: its outcome is not judged by gold plans; {problem}")
        gold = {}
    expected = expected_items(folder, gold)
    if not expected:
        return None
    judged = {
        number: [compared_execution(execution, ignore) for execution in every if execution.id in expected]
        for number, every in by_trial.items()
    }
    answers = {trial.number: _answers(trial) for trial in trials}
    return judge_outcomes(folder, expected, judged, predictions, metrics, executor, screen, answers, judging)


def gold_executions(folder: DataFolder) -> dict[Any, Execution]:
    """The executions of gold plans that ran."""
    path = folder.path / FILE
    if not path.exists():
        raise UsageError(
            "predictions are judged against executed gold plans, and there are none",
            file=path,
            fix="first run the same command without --predictions",
        )
    return {execution.id: execution for execution in read_executions(path) if execution.outcome == "ran"}


def judge_outcomes(
    folder: DataFolder,
    expected: Mapping[RequestId, Expected],
    trials: Mapping[int, Sequence[Execution]],
    predictions: Path,
    metrics: Path,
    executor: str,
    screen: Screen,
    answers: Mapping[int, Mapping[RequestId, str]] | None = None,
    judging: RunSettings | None = None,
) -> OutcomeSummary:
    """Judge executed predictions, write the verdicts and show them beside those on the plans.

    Args:
        folder: Data folder.
        expected: What each item must bring about.
        trials: The executions of each trial.
        predictions: Prediction file.
        metrics: Its metrics file.
        executor: Name of the executor.
        screen: Receives the verdicts.
        answers: The final texts of each trial; None for plans, which have none.
        judging: The judge of undecided facts, and its server; None for none.
    """
    benchmark = benchmark_of(folder)
    target = metrics.parent / "outcomes" / metrics.name
    made_from = {name: value for name, (_, value) in benchmark.data.made_from(folder).items()}
    made_from["predictions"] = benchmark.scores.fingerprint(predictions)
    if (folder.path / FILE).is_file():
        made_from["gold"] = sha256_of(folder.path / FILE)
    parts = {"executor": executor, **{name: value[:12] for name, value in made_from.items()}}
    parts["trials"] = fingerprint([trial.output for trial in same_trials(predictions)])
    with_facts = any(item.has_own for item in expected.values())
    verdicts: dict[RequestId, dict[int, OutcomeVerdict]] = {}
    by_id = {number: {execution.id: execution for execution in every} for number, every in trials.items()}
    for name, item in expected.items():
        runs = {}
        for number, executions in by_id.items():
            if name in executions:
                answer = None if answers is None else answers[number].get(name)
                verdict = item.judge(executions[name], answer)
                if verdict is not None:
                    runs[number] = verdict
        if runs:
            verdicts[name] = runs
    agreement: dict[str, Any] = {}
    if judging is not None and answers is not None:
        agreement = _ask_judge(verdicts, expected, answers, target.parent / "judge" / target.stem, judging)
    lines = [
        OutcomeLine.of(
            name,
            {number: (by_id[number][name], verdict) for number, verdict in runs.items()},
            with_facts=with_facts,
        )
        for name, runs in verdicts.items()
    ]
    stability = (
        {"stability": _stability(list(expected), verdicts, list(trials), metrics)} if len(trials) > 1 else {}
    )
    summary = OutcomeSummary.of((list(runs.values()) for runs in verdicts.values()), len(expected))
    counts = {"n": str(summary.judged), "of": str(summary.requests)}
    signature = f"outcome|{signature_text({'toolassay': __version__, **parts, **counts})}"
    unjudged = [name for name in expected if name not in verdicts]
    write_json(
        target,
        {
            "signature": signature,
            **msgspec.to_builtins(summary),
            "unjudged": unjudged,
            **agreement,
            **stability,
        },
    )
    write_json_lines(items_path(target), map(msgspec.to_builtins, lines))
    screen.table(_outcome_table(summary).markdown())
    screen.show(f"{target} ({signature})")
    if summary.judged < summary.requests:
        no_gold = sum(expected[name].gold is None and not expected[name].has_own for name in unjudged)
        why = f"no prediction or no result{f'; the calls of {no_gold:,} did not run' if no_gold else ''}"
        left = summary.requests - summary.judged
        screen.say(f"{WARNING}{left:,} of {summary.requests:,} requests are not judged: {why}")
        if no_gold:
            screen.say(
                f"{WARNING}run {as_called('execute')} and see what it says of them, then evaluate again"
            )
    plans = _plan_verdicts(items_path(metrics))
    if plans or not items_path(metrics).exists():  # cases without calls have no verdict on a plan
        for text in _disagreements(plans, verdicts):
            screen.show(text)
    return summary


def _ask_judge(
    verdicts: dict[RequestId, dict[int, OutcomeVerdict]],
    expected: Mapping[RequestId, Expected],
    answers: Mapping[int, Mapping[RequestId, str]],
    out: Path,
    judging: RunSettings,
) -> dict[str, Any]:
    """Let a judge decide the undecided facts, in place; returns how far it agrees with the rule."""
    undecided: list[FactQuestion] = []
    decided: list[FactQuestion] = []
    for name, runs in verdicts.items():
        for trial, verdict in runs.items():
            for number, stated in enumerate(verdict.facts_by or ()):
                question = FactQuestion(
                    f"{key_of(name)} {trial} {number}",
                    expected[name].request,
                    (expected[name].facts or ())[number],
                    answers[trial].get(name, ""),
                    None if stated.right is None else bool(stated.right),
                )
                (undecided if stated.right is None else decided).append(question)
    compared = Random(0).sample(decided, min(_MOST_COMPARED, len(decided)))
    told = judged_facts([*undecided, *compared], out, judging)
    asked = {question.key for question in undecided}
    for name, runs in verdicts.items():
        for trial, verdict in runs.items():
            keys = [f"{key_of(name)} {trial} {number}" for number in range(len(verdict.facts_by or ()))]
            if asked.intersection(keys):
                by_fact = [told.get(key) if key in asked else None for key in keys]
                runs[trial] = verdict.judged(by_fact, judging.model.llm)
    answered = [question for question in compared if told.get(question.key) is not None]
    agreed = sum(told[question.key] == question.by_rule for question in answered)
    name = judging.model.llm
    count = count_of(len(undecided), "undecided fact")
    judging.screen.show(
        f"{name} judged {count}; it agrees with the rule on {agreed} of {len(answered)} others"
    )
    counts = {"undecided": len(undecided), "agreed": agreed, "compared": len(answered)}
    return {"judge": {"model": name, **counts}}


def _stability(
    ids: Sequence[RequestId],
    verdicts: Mapping[RequestId, Mapping[int, OutcomeVerdict]],
    trials: Sequence[int],
    metrics: Path,
) -> dict[str, Any]:
    """How often the outcome of each request is right over the trials; an answer is its verdict."""
    answers = []
    for trial in trials:
        runs = [verdicts.get(name, {}).get(trial) for name in ids]
        answers.append([NO_RUN if run is None else int(run.correct is True) for run in runs])
    right = [[answer == 1 for answer in row] for row in answers]
    items = items_path(metrics)
    clusters = {item.id: item.cluster for item in read_items(items)} if items.is_file() else {}
    return stability_metrics(answers, right, [clusters.get(str(name), str(name)) for name in ids])


def _outcome_table(summary: OutcomeSummary) -> Table:
    def share(count: float | None, of: int | None = None) -> str:
        whole = summary.judged if of is None else of
        if count is None:
            return ""
        return f"{count / whole:.1%}" if whole else "-"

    row = {
        "judged": f"{summary.judged:,}",
        "outcome right": share(summary.correct),
        "ran": share(summary.ran),
        "answer right": share(summary.answer),
        "state right": share(summary.state, summary.with_state),
        "unwanted changes": share(None if summary.state is None else summary.unwanted),
    }
    if summary.facts is not None:
        at_best = summary.facts + summary.facts_undecided
        shares = dict.fromkeys(share(count, summary.with_facts) for count in (summary.facts, at_best))
        row["facts right"] = f"{' to '.join(shares)} of {summary.with_facts:,}"
        if summary.undecided:
            row["outcome right"] += f" to {share(summary.correct + summary.undecided)}"
    return Table(list(row), [list(row.values())])


def _plan_verdicts(path: Path) -> dict[tuple[str, int], bool]:
    """Whether the plan of each run is that of the gold, by id and trial; nothing before `evaluate`."""
    if not path.exists():
        return {}
    return {
        (item.id, run.trial): score == 1
        for item in read_items(path)
        for run in item.trials or ()
        if (score := run.scores.get("exact_match")) is not None
    }


def _disagreements(
    plans: Mapping[tuple[str, int], bool], verdicts: Mapping[RequestId, Mapping[int, OutcomeVerdict]]
) -> Iterator[str]:
    """How verdicts on plans and on outcomes differ, with some requests."""
    if not plans:
        yield f"for the verdicts on the plans beside these, run {as_called('evaluate')} first"
        return
    both = [
        (name, plans[str(name), number], verdict.correct is True)
        for name, runs in verdicts.items()
        for number, verdict in runs.items()
        if (str(name), number) in plans
    ]
    for is_plan, is_outcome, words in (
        (True, True, "plan and outcome right"),
        (False, True, "another plan, the right outcome"),
        (True, False, "the gold plan, another outcome"),
        (False, False, "neither right"),
    ):
        names = [str(name) for name, plan, outcome in both if plan == is_plan and outcome == is_outcome]
        first = list(dict.fromkeys(names))[:_MOST_NAMED]
        named = f": {', '.join(first)}" if names and is_plan != is_outcome else ""
        yield f"{len(names):,} {words}{named}"
