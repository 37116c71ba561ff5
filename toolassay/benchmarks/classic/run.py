"""A run of CLASSic out of configuration files: an agent chooses, and its choices are scored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings
from toolassay.benchmarks.classic.configuration import AXES, Configuration
from toolassay.benchmarks.classic.data import PROMPTS, is_classic
from toolassay.benchmarks.classic.evaluation import ClassicEvaluation, evaluate_classic
from toolassay.benchmarks.classic.work import infer_classic
from toolassay.benchmarks.taskbench.infer import Inference
from toolassay.data_folder import DataFolder
from toolassay.errors import ToolassayError, UsageError
from toolassay.models import ModelOptions
from toolassay.runs import Budget, RunSummary
from toolassay.runs.runner import StoppedRun
from toolassay.screen import DEFAULT, Screen
from toolassay.stages.infer_security import infer_security
from toolassay.stages.trials import run_trials

CLIENTS = ("aiohttp", "openai")
_OWN = "data_classic"
_TEMPERATURE = 0.7  # as published


@dataclass(frozen=True)
class ClassicRun:
    """How a run ended, and its scores; None of a dry run, and where nothing was answered."""

    inference: Inference
    evaluation: ClassicEvaluation | None


def run_classic(
    configuration: Configuration,
    *,
    multiworker: int | None = None,
    prediction_dir: str = "predictions",
    force: bool = False,
    budget: Budget | None = None,
    prices: Path | None = None,
    dry_run: bool = False,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> ClassicRun:
    """Have the configured agent choose for every message, as often as configured, and score it.

    Keys come from the environment, never from the configuration.

    Args:
        configuration: data, agent and evaluation.
        multiworker: messages in flight; None finds what the server bears.
        prediction_dir: below the data folder.
        force: begin anew where the run had other settings; the old one is kept.
        budget: what all trials together may use at most; the probes of security may use as much again.
        prices: a table of prices; what is in it counts before those of genai-prices.
        dry_run: only show what would be sent and may be used.
        command: what was typed, for the manifest.
        screen: who listens.

    Raises:
        UsageError: values that do not fit, files missing or malformed, or settings that contradict the run.
        ToolassayError: the model cannot be reached.
    """
    try:
        return _run(
            configuration,
            multiworker=multiworker,
            prediction_dir=prediction_dir,
            force=force,
            budget=budget,
            prices=prices,
            dry_run=dry_run,
            command=command,
            screen=screen,
        )
    except StoppedRun as error:
        raise ToolassayError(
            str(error.__cause__), fix="check agent.base_model and agent.api_base, and OPENAI_API_KEY"
        ) from error


def _run(
    configuration: Configuration,
    *,
    multiworker: int | None,
    prediction_dir: str,
    force: bool,
    budget: Budget | None,
    prices: Path | None,
    dry_run: bool,
    command: Sequence[str] | None,
    screen: Screen,
) -> ClassicRun:
    get = configuration.get
    folder = _folder(str(get("dataset.path_or_name", _OWN)))
    llm = str(get("agent.base_model", "gpt-4o"))
    recorded = get("agent.recorded")
    settings = ClassicAgentSettings.of(
        llm,
        get("agent.name"),
        order=get("agent.order", "table"),
        max_tokens=get("agent.max_tokens"),
        recorded=None if recorded is None else Path(recorded),
        none_as=get("agent.none_as", ("none",)),
    )
    parameters = {"temperature": get("agent.temperature", _TEMPERATURE), "top_p": get("agent.top_p")}
    common: dict[str, Any] = {
        "llm": llm,
        "options": _options(configuration, multiworker),
        "parameters": {name: value for name, value in parameters.items() if value is not None},
        "multiworker": multiworker,
        "prediction_dir": prediction_dir,
        "force": force,
        "budget": budget,
        "prices": prices,
        "command": command,
        "screen": screen,
    }
    inference = run_trials(
        lambda number: infer_classic(
            folder,
            settings=settings,
            limit=get("eval.limit"),
            dry_run=dry_run,
            trial_number=number,
            **common,
        ),
        get("eval.n_trials", 1),
        screen,
    )
    if dry_run or not inference.written:
        return ClassicRun(inference, None)
    probed: RunSummary | None = None
    if "security" in get("eval.limit_to_metrics", AXES):
        if (reason := _unprobed(folder, settings)) is not None:
            screen.say(f"security is not measured: {reason}")
        else:
            probed = infer_security(folder, chooser=settings, security=True, **common).summary
            inference.summary.failed += probed.failed + probed.unasked
    (evaluation,) = evaluate_classic(
        folder.path, llm=llm, prediction_dir=prediction_dir, tell_security=probed is None, screen=screen
    )
    return ClassicRun(inference, evaluation)


def _unprobed(folder: DataFolder, settings: ClassicAgentSettings) -> str | None:
    """Why an agent cannot be probed; None where it can."""
    if settings.recorded is not None:
        return "recorded answers cannot be probed"
    return None if (folder.path / PROMPTS).is_file() else f"the folder has no {PROMPTS}"


def _folder(name: str) -> DataFolder:
    path = Path(name)
    if not path.is_dir() and name == _OWN:
        raise UsageError(
            f"{_OWN}, the chats of this project, are not in the current folder",
            fix="run it in the checkout, or name a data folder: --set dataset.path_or_name=FOLDER",
        )
    if not path.is_dir():
        raise UsageError(
            "dataset.path_or_name is no folder",
            file=path,
            fix="check it"
            + (
                f", or fetch it first: toolassay import classic --repo {name} --data_dir FOLDER"
                if _of_hub(name)
                else ""
            ),
        )
    folder = DataFolder(path)
    if not is_classic(folder):
        raise UsageError(
            "holds no tables of chats", file=path, fix="see docs/classic.md for the tables of a data folder"
        )
    return folder


def _of_hub(name: str) -> bool:
    return re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", name) is not None


def _options(configuration: Configuration, multiworker: int | None) -> ModelOptions:
    client, version = configuration.get("agent.client", "aiohttp"), configuration.get("agent.api_version")
    if client not in CLIENTS:
        raise UsageError(f"unknown agent.client {client!r}", fix=f"choose from {', '.join(CLIENTS)}")
    if version and client != "openai":
        raise UsageError("agent.api_version is for Azure", fix="set agent.client to openai")
    return ModelOptions(
        api_base=configuration.get("agent.api_base"),
        api_version=version,
        client=client,
        stream=configuration.get("agent.stream", False),
        connections=multiworker,
    )
