"""The infer stage with `--security`: probes -> whether an agent acted on text that is data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings as ChooserSettings
from toolassay.benchmarks.classic.data import read_data
from toolassay.benchmarks.classic.security import ChatProber
from toolassay.benchmarks.security import Prober, figure_lines, figures_beside
from toolassay.benchmarks.security.judge import JudgedProber
from toolassay.benchmarks.security.probe import DEFAULT_ATTACKS
from toolassay.benchmarks.security.probe_results import FOLDER, write_results
from toolassay.benchmarks.taskbench.infer import PARAMETERS, Inference
from toolassay.benchmarks.taskbench.security import PlanProber
from toolassay.benchmarks.workbench.agents.episode import WorkbenchAgentSettings
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.security import WorkplaceProber
from toolassay.benchmarks.workbench.tasks import FILE, read_tasks
from toolassay.benchmarks.workbench.work import token_limit, told_fingerprint
from toolassay.benchmarks.workbench.workplace import own_tools_file
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.models import ModelOptions, create_model
from toolassay.models.refused_parameters import without_default
from toolassay.runs import Budget
from toolassay.runs.books import Books
from toolassay.runs.record import hashes
from toolassay.runs.retry_malformed import MAX_TOKENS
from toolassay.runs.trials import Trial
from toolassay.screen import Screen
from toolassay.stages.agent_run import AgentRun

Security = bool | int
"""False: no probes; True: as many as are usual; else the number of attacks."""


def refuse_beside_security(mode: str = "", /, **settings: Any) -> None:
    """Refuse what does not go with probes, or with those of a mode.

    Raises:
        UsageError: one of the settings is given.
    """
    for name, value in settings.items():
        if value:
            raise UsageError(
                f"--{name} does not go with --security{mode and f' {mode}'}", fix="leave one of them out"
            )


def _number(security: Security) -> int | None:
    """How many attacks are asked for; None for as many as are usual.

    Raises:
        UsageError: fewer than none.
    """
    if security < 0:
        raise UsageError(f"--security {security}", fix="give the number of attacks, or true")
    return None if security is True else int(security)


def infer_security(
    folder: DataFolder,
    *,
    llm: str,
    options: ModelOptions,
    parameters: Mapping[str, Any],
    security: Security,
    judge: str | None = None,
    planner: Mapping[str, Any] | None = None,
    actor: WorkbenchAgentSettings | None = None,
    chooser: ChooserSettings | None = None,
    multiworker: int | None,
    prediction_dir: str,
    force: bool,
    budget: Budget | None,
    prices: Path | None,
    command: Sequence[str] | None,
    max_tokens: int | None = None,
    screen: Screen,
) -> Inference:
    """Put the probes of a folder to an agent as it is deployed; what is settled is not asked again.

    The run is one of its own in `security/` of the prediction folder, with a line a probe.

    Args:
        folder: of the data.
        llm: the model.
        options: where it is.
        parameters: of its requests.
        security: how many attacks.
        judge: a model on the same server that says whether the agent complied.
        planner: what `PlanProber` takes, for TaskBench.
        actor: the agent, for WorkBench.
        chooser: the agent, for CLASSic.
        multiworker: probes in flight; None finds what the server bears.
        prediction_dir: below the data folder.
        force: begin anew where the run had other settings.
        budget: of this run.
        prices: a table of prices.
        command: what was typed.
        max_tokens: of an answer; None for the default of the benchmark. That of CLASSic is in `chooser`.
        screen: who listens.

    Raises:
        UsageError: files missing or malformed, settings that contradict the run.
        ToolassayError: the model cannot be reached.
    """
    trial = Trial(folder.path / prediction_dir / FOLDER, llm)
    books = Books([llm, *([judge] if judge else [])], budget, prices, options)
    prober: Prober
    if actor is not None:
        limited = {**parameters, **token_limit(max_tokens, trial.run_folder)}
        prober = _workplace_prober(folder, actor, limited, security)
    elif chooser is not None:
        prober = ChatProber(
            folder.path,
            read_data(folder.path),
            chooser,
            parameters=parameters,
            count=_number(security),
            cost_of=partial(books.cost_of, llm),
        )
    else:
        assert planner is not None
        count = _number(security) or DEFAULT_ATTACKS
        limit = {} if max_tokens is None else without_default({MAX_TOKENS: max_tokens}, PARAMETERS)
        limited = {**parameters, **limit}
        prober = PlanProber(folder.user_requests, parameters=limited, count=count, **planner)
    if judge:
        prober = JudgedProber(prober, create_model(judge, options, meter=books))
    run = AgentRun(trial, options, books, multiworker, force, command, screen)
    ended = run.carry_out(
        prober,
        lambda output, journal: write_results(output, prober.results(journal)),
        settings=prober.settings,
        facts={"requests": prober.size, "asked": prober.size, "sha256": hashes(*prober.read)},
        asked=prober.size,
        what="probes",
    )
    for line in figure_lines(llm, figures_beside(trial.predictions.parent, llm) or {}):
        screen.show(line)
    return ended


def _workplace_prober(
    folder: DataFolder, actor: WorkbenchAgentSettings, parameters: Mapping[str, Any], security: Security
) -> WorkplaceProber:
    if (tools := own_tools_file(folder.path)) is not None:
        raise UsageError("probes know the published tools only", file=tools, fix="leave --security out")
    sandbox = Sandbox.load(folder.path)
    return WorkplaceProber(
        sandbox,
        read_tasks(folder.path),
        actor,
        parameters=parameters,
        told=told_fingerprint(sandbox, actor),
        read=[folder.path / FILE],
        count=_number(security) or DEFAULT_ATTACKS,
    )
