"""`toolassay classic run`: runs and scores an agent from configuration files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.benchmark import Classic
from toolassay.benchmarks.classic.configuration import AXES, Configuration
from toolassay.benchmarks.classic.data import PROMPTS
from toolassay.benchmarks.classic.evaluation import ClassicEvaluation, evaluate_chats
from toolassay.benchmarks.classic.options import ChatOptions, ChatScoring
from toolassay.benchmarks.classic.work import ChatWork, chat_prober
from toolassay.benchmarks.registry import benchmark_of
from toolassay.benchmarks.security.judge import probe
from toolassay.data_folder import DataFolder
from toolassay.errors import ToolassayError, UsageError
from toolassay.evaluation.evaluation import ScoringSettings
from toolassay.models import ModelOptions
from toolassay.models.refused_parameters import Default
from toolassay.runs import RunSummary
from toolassay.runs.run import Run, run_trials
from toolassay.runs.runner import StoppedRun
from toolassay.runs.settings import (
    PREDICTIONS,
    Limits,
    ModelSettings,
    RunChoices,
    RunSettings,
    gather,
    refuse_unknown,
)
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference
from toolassay.screen import DEFAULT, Screen

CLIENTS = ("aiohttp", "openai")
_OWN = Classic.about.default_folder
_TEMPERATURE = Default(0.7)  # as published


@dataclass(frozen=True)
class ClassicRun:
    """The result of a run, and its scores; None for a dry run or without an answer."""

    inference: Inference
    evaluation: ClassicEvaluation | None


def run_classic(
    configuration: Configuration,
    *,
    limits: Limits | None = None,
    choices: RunChoices | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> ClassicRun:
    """Have the configured agent choose for every message, as often as configured, and score it.

    Keys come from the environment, never from the configuration.

    Args:
        configuration: data, agent and evaluation.
        limits: what all trials together may use; the probes of security may use as much again.
        choices: where the run is kept, and whether it is a dry run.
        command: what was typed, for the manifest.
        screen: where notices, results and progress go.
        keywords: fields of the two options objects, instead of or beside them.

    Raises:
        UsageError: values that do not fit, files missing or malformed, or settings that contradict the run.
        TypeError: an unknown keyword.
        ToolassayError: the model cannot be reached.
    """
    limits = gather(limits or Limits(), keywords)
    choices = gather(choices or RunChoices(), keywords)
    refuse_unknown("run_classic", keywords)
    try:
        return _run(configuration, limits, choices, command, screen)
    except StoppedRun as error:
        raise ToolassayError(
            str(error.__cause__), fix="check agent.base_model and agent.api_base, and OPENAI_API_KEY"
        ) from error


def _run(
    configuration: Configuration,
    limits: Limits,
    choices: RunChoices,
    command: Sequence[str] | None,
    screen: Screen,
) -> ClassicRun:
    get = configuration.get
    folder = _folder(str(get("dataset.path_or_name", _OWN)))
    recorded = get("agent.recorded")
    own = ChatOptions(
        get("agent.name"),
        get("agent.order", "table"),
        None if recorded is None else Path(recorded),
        get("agent.none_as", ("none",)),
    )
    model = ModelSettings(
        str(get("agent.base_model", "gpt-4o")),
        _options(configuration, limits.multiworker),
        get("agent.temperature", _TEMPERATURE),
        get("agent.top_p"),
        get("agent.max_tokens"),
    )
    trials = get("eval.n_trials", 1)
    asked = replace(choices, limit=get("eval.limit"), trials=trials)
    run = RunSettings(model, limits, asked, command, screen)
    place = folder.path / (choices.prediction_dir or PREDICTIONS)

    def one(number: int) -> Inference:
        return Run(ChatWork(folder, run, own, number), Trial(place, model.llm, number), run).carry_out()

    inference = run_trials(one, trials, screen)
    if choices.dry_run or not inference.written:
        return ClassicRun(inference, None)
    probed: RunSummary | None = None
    if "security" in get("eval.limit_to_metrics", AXES):
        if (reason := _unprobed(folder, own)) is not None:
            screen.say(f"security is not measured: {reason}")
        else:
            probed = probe(replace(run, choices=choices), chat_prober(folder, run, own, None), place).summary
            inference.summary.failed += probed.failed + probed.unasked
    scoring = ScoringSettings((model.llm,), choices.prediction_dir or PREDICTIONS, screen=screen)
    (evaluation,) = evaluate_chats(folder, scoring, ChatScoring(), shows_security=probed is None)
    return ClassicRun(inference, evaluation)


def _unprobed(folder: DataFolder, own: ChatOptions) -> str | None:
    """The reason why an agent has no security probes; None if it has."""
    if own.recorded is not None:
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
    if benchmark_of(folder).name != "classic":
        raise UsageError(
            "holds no tables of chats", file=path, fix="see docs/classic.md for the tables of a data folder"
        )
    return folder


def _of_hub(name: str) -> bool:
    return re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", name) is not None


def _options(configuration: Configuration, multiworker: int | None) -> ModelOptions:
    client = configuration.get("agent.client", "aiohttp")
    if client not in CLIENTS:
        raise UsageError(f"unknown agent.client {client!r}", fix=f"choose from {', '.join(CLIENTS)}")
    return ModelOptions(
        api_base=configuration.get("agent.api_base"),
        client=client,
        stream=configuration.get("agent.stream", False),
        connections=multiworker,
    )
