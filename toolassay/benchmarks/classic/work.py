"""The infer stage of CLASSic: chats -> the workflow that an agent would start."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.inference import ClassicInference, agent_of
from toolassay.benchmarks.classic.agents.predictions import prediction_rows, write_predictions
from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings
from toolassay.benchmarks.classic.data import read_data
from toolassay.benchmarks.taskbench.infer import Inference
from toolassay.data_folder import DataFolder
from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.runs import Budget, Journal, RunSummary
from toolassay.runs.books import Books
from toolassay.runs.dry_run import Counts, dry_run_lines, expected
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.trials import Trial
from toolassay.screen import WARNING, Screen
from toolassay.stages.agent_run import AgentRun, chosen_items


def infer_classic(
    folder: DataFolder,
    *,
    llm: str,
    options: ModelOptions,
    parameters: Mapping[str, Any],
    settings: ClassicAgentSettings,
    multiworker: int | None = None,
    prediction_dir: str | None = None,
    force: bool = False,
    budget: Budget | None = None,
    prices: Path | None = None,
    limit: int | None = None,
    ids: Collection[RequestId] | None = None,
    dry_run: bool = False,
    trial_number: int = 0,
    command: Sequence[str] | None = None,
    retry_malformed: bool = False,
    screen: Screen,
) -> Inference:
    """Have an agent choose for every message of a folder; what is done already is not done again.

    The parameters are those of `infer`, for one of its trials; `ids` are those of messages,
    `limit` takes the first of the table.

    Raises:
        UsageError: files missing or malformed, settings that contradict the run.
        ToolassayError: the model cannot be reached.
    """
    data = read_data(folder.path)
    chosen = chosen_items(data.examples, ids, limit, what="message")
    asks = settings.agent != "recorded"
    if retry_malformed and not asks:
        raise UsageError("--agent recorded asks no model", fix="leave --retry_malformed out")
    agent = agent_of(settings, trial_number)
    if isinstance(agent, RecordedAnswers):
        for notice in agent.notices(
            {example.id for example in data.examples}, {example.id for example in chosen}
        ):
            screen.say(f"{WARNING}{notice}")
    books = Books([llm] if asks else [], budget, prices, options)
    work = ClassicInference(
        [example.question for example in chosen],
        agent,
        order=settings.order,
        parameters=parameters,
        cost_of=partial(books.cost_of, llm),
    )
    run = AgentRun(
        Trial(folder.path / (prediction_dir or "predictions"), llm, trial_number),
        options=options,
        books=books,
        multiworker=multiworker,
        force=force,
        command=command,
        screen=screen,
        retry_malformed=retry_malformed,
    )
    run_settings = {
        "benchmark": "classic",
        **(parameters if asks else {}),
        **settings.facts,
        "prompt_sha256": hashlib.sha256(agent.wording.encode()).hexdigest(),
    }
    if dry_run:
        if not asks:
            raise UsageError("--agent recorded asks nobody", fix="leave --dry_run out")
        return _foresee(run, work, run_settings, settings)

    def write(output: Path, journal: Journal) -> int:
        def rows() -> Iterator[Mapping[str, Any]]:
            free = asks and llm in FREE
            return prediction_rows(
                data.examples, journal, trial=trial_number, order=settings.order, free=free
            )

        return write_predictions(output, rows)

    tables = sorted(folder.path.glob("*.csv"))
    return run.carry_out(
        work,
        write,
        settings=run_settings,
        facts={"requests": len(data.examples), "asked": len(chosen), "sha256": hashes(*tables)},
        asked=len(chosen),
        what="messages",
        asks=asks,
    )


def _foresee(
    run: AgentRun, work: ClassicInference, run_settings: Mapping[str, Any], settings: ClassicAgentSettings
) -> Inference:
    with run.foreseen(run_settings, {"max_tokens": settings.limit}) as (journal, estimate, again):
        already = work.foresee(journal, estimate, again)
    counts = Counts(already, "messages", "; further groups of a long list of functions")
    for line in dry_run_lines(estimate, counts, run.trial.llm, run.options, run.books.prices):
        run.screen.show(line)
    foreseen = expected(estimate, run.trial.llm, run.books.prices)
    return Inference(0, already, RunSummary(), expected=(foreseen,))
