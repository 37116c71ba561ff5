"""`toolassay classic run`: runs and scores an agent from configuration files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from toolassay.benchmarks.classic.benchmark import ChatOptions, ChatScoring, Classic
from toolassay.benchmarks.classic.data import PROMPTS
from toolassay.benchmarks.classic.evaluation import evaluate_chats
from toolassay.benchmarks.classic.security import chat_prober
from toolassay.benchmarks.classic.work import chat_work
from toolassay.benchmarks.registry import benchmark_of
from toolassay.benchmarks.security.probe_results import probe
from toolassay.console.screen import DEFAULT, Screen
from toolassay.declarations import checked
from toolassay.errors import ToolassayError, UsageError
from toolassay.evaluation.evaluation import FolderEvaluation, ScoringSettings
from toolassay.files.data_files import read_text
from toolassay.models import ModelOptions
from toolassay.models.refused_parameters import Default
from toolassay.records.data_folder import DataFolder
from toolassay.runs.run import run_trials
from toolassay.runs.runner import RunSummary, StoppedRun
from toolassay.runs.settings import (
    PREDICTIONS,
    Limits,
    ModelSettings,
    RunChoices,
    RunSettings,
)
from toolassay.runs.work import Inference

_OWN = Classic.about.default_folder
_Count = Annotated[int, msgspec.Meta(ge=1)]
_Axis = Literal["cost", "latency", "accuracy", "stability", "security"]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a configuration. A key that is absent or null has its default."""


class DatasetConfiguration(_Part, frozen=True):
    """The data."""

    path_or_name: str = _OWN


class AgentConfiguration(_Part, frozen=True):
    """The agent and its model; credentials have no place here.

    Attributes:
        temperature: default 0.7, as published.
        none_as: recorded answers that mean no workflow.
    """

    name: str | None = None
    base_model: str = "gpt-4o"
    api_base: str | None = None
    client: Literal["aiohttp", "openai"] = "aiohttp"
    stream: bool = False
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: _Count | None = None
    order: str | int = "table"
    recorded: Path | None = None
    none_as: str | tuple[str, ...] = "none"


class EvaluationConfiguration(_Part, frozen=True):
    """What is run and measured."""

    n_trials: _Count = 1
    limit: _Count | None = None
    limit_to_metrics: tuple[_Axis, ...] = get_args(_Axis)


class Configuration(_Part, frozen=True):
    """The merged configuration of a run."""

    dataset: DatasetConfiguration = DatasetConfiguration()
    agent: AgentConfiguration = AgentConfiguration()
    eval: EvaluationConfiguration = EvaluationConfiguration()


KINDS = ("data", "agent", "eval")
_PACKAGE = "toolassay.benchmarks.classic"
CONFIGURATION_FIX = "see docs/classic.md for the keys; an API key belongs into OPENAI_API_KEY or .env"


def read_configuration(names: Mapping[str, str], overrides: Sequence[str] = ()) -> Configuration:
    """Merge configuration files, later ones taking precedence, and then overrides.

    Args:
        names: a path or a bare name for each of `data`, `agent`, `eval`. A bare name is looked up as
            `configs/<kind>/<name>.yaml` below the current folder, then among the bundled configurations.
        overrides: `key=value` with a dotted key, as `agent.temperature=0.2`. The value is YAML and may
            contain further `=`.

    Raises:
        UsageError: a file does not exist or is malformed, a key is unknown or a credential, or a value is
            invalid. The message has the key and never the value.

    >>> found = read_configuration({"agent": "retrieval"}, ["agent.order=7"])
    >>> found.agent.base_model, found.agent.order
    ('offline', 7)
    """
    merged: dict[str, dict[str, Any]] = {}
    files = [_configuration_file(kind, names[kind]) for kind in KINDS if kind in names]
    trees: list[tuple[Any, Path | None]] = [(_parsed(read_text(path), path), path) for path in files]
    for text in overrides:
        key, equals, written = text.removeprefix("--").partition("=")
        part, dot, name = key.partition(".")
        if not (equals and dot):
            raise UsageError(f"cannot read {key!r}", fix="write KEY=VALUE, e.g. agent.temperature=0.2")
        trees.append(({part: {name: _parsed(written)}}, None))
    for tree, path in trees:
        _configuration(tree, path)
        for part, values in tree.items():
            merged[part] = {**merged.get(part, {}), **values}
    return _configuration(merged)


def _configuration(tree: Mapping[str, Any], file: Path | None = None) -> Configuration:
    """The configuration of a YAML value."""
    try:
        filled = {
            part: {name: value for name, value in values.items() if value is not None}
            for part, values in tree.items()
        }
        return msgspec.convert(filled, Configuration, strict=False, dec_hook=lambda kind, value: kind(value))
    except AttributeError:
        raise UsageError("is not a mapping of mappings", file=file, fix="write agent: {name: cot}") from None
    except (msgspec.ValidationError, TypeError) as error:
        raise UsageError(str(error), file=file, fix=CONFIGURATION_FIX) from None


def _configuration_file(kind: str, name: str) -> Path:
    """The file of a path or bare name."""
    own = Path("configs") / kind / f"{name}.yaml"
    bundled = Path(str(files(_PACKAGE) / "configs" / kind))
    for path in (Path(name), own, bundled / f"{name}.yaml"):
        if path.is_file():
            return path
    raise UsageError(
        f"no configuration --{kind} '{name}': no such file, nor {own}",
        fix=f"give a path, or one of {', '.join(sorted(path.stem for path in bundled.glob('*.yaml')))}",
    )


def _parsed(text: str, path: Path | None = None) -> Any:
    import yaml

    try:
        value = yaml.safe_load(text)
        return {} if value is None and path is not None else value
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # a date such as 2024-02-31 is a ValueError
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None and path is not None else None
        raise UsageError("is not valid YAML", file=path, line=line, fix="correct the syntax") from None


_TEMPERATURE = Default(0.7)  # as published


@dataclass(frozen=True)
class ClassicRun:
    """The result of a run, and its scores; None for a dry run or without an answer."""

    inference: Inference
    evaluation: FolderEvaluation | None


def run_classic(
    configuration: Configuration,
    *,
    limits: Limits = Limits(),
    choices: RunChoices = RunChoices(),
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> ClassicRun:
    """Have the configured agent choose for every message, as often as configured, and score it.

    Keys come from the environment, never from the configuration.

    Args:
        configuration: data, agent and evaluation.
        limits: what all trials together may use; the probes of security may use as much again.
        choices: where the run is kept, and whether it is a dry run.
        command: what was typed, for the manifest.
        screen: where notices, results and progress go.

    Raises:
        UsageError: values that do not fit, files missing or malformed, or settings that contradict the run.
        ToolassayError: the model cannot be reached.
    """
    agent = configuration.agent
    trials = configuration.eval.n_trials
    folder = _folder(configuration.dataset.path_or_name)
    none_as = (agent.none_as,) if isinstance(agent.none_as, str) else agent.none_as
    own = ChatOptions(agent.name, str(agent.order), agent.recorded, none_as)
    server = {name: getattr(agent, name) for name in ("api_base", "client", "stream")}
    options = ModelOptions(**server, connections=limits.multiworker)
    temperature = _TEMPERATURE if agent.temperature is None else agent.temperature
    model = checked(ModelSettings(agent.base_model, options, temperature, agent.top_p, agent.max_tokens))
    asked = replace(choices, limit=configuration.eval.limit, trials=trials)
    run = RunSettings(model, limits, asked, command, screen)
    predictions = folder.path / (choices.prediction_dir or PREDICTIONS)
    try:
        inference = run_trials(lambda number: chat_work(folder, run, own, number), predictions, run)
        if choices.dry_run or not inference.written:
            return ClassicRun(inference, None)
        probed: RunSummary | None = None
        if "security" in configuration.eval.limit_to_metrics:
            if own.recorded is not None:
                screen.say("security is not measured: recorded answers cannot be probed")
            elif not (folder.path / PROMPTS).is_file():
                screen.say(f"security is not measured: the folder has no {PROMPTS}")
            else:
                prober = chat_prober(folder, run, own, None)
                probed = probe(replace(run, choices=choices), prober, predictions).summary
                inference.summary.failed += probed.failed + probed.unasked
        scoring = ScoringSettings((model.llm,), choices.prediction_dir or PREDICTIONS, screen=screen)
        (evaluation,) = evaluate_chats(folder, scoring, ChatScoring(), shows_security=probed is None)
        return ClassicRun(inference, evaluation)
    except StoppedRun as error:
        raise ToolassayError(
            str(error.__cause__), fix="check agent.base_model and agent.api_base, and OPENAI_API_KEY"
        ) from error


def _folder(name: str) -> DataFolder:
    path = Path(name)
    if not path.is_dir() and name == _OWN:
        raise UsageError(
            f"{_OWN}, the chats of this project, are not in the current folder",
            fix="run it in the checkout, or name a data folder: --set dataset.path_or_name=FOLDER",
        )
    if not path.is_dir():
        fix = f"check it, or fetch it from the hub: toolassay import classic --repo {name} --data_dir FOLDER"
        raise UsageError("dataset.path_or_name is no folder", file=path, fix=fix)
    folder = DataFolder(path)
    if benchmark_of(folder).name != "classic":
        raise UsageError(
            "holds no tables of chats", file=path, fix="see docs/classic.md for the tables of a data folder"
        )
    return folder
