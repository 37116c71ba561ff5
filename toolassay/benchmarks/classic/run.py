"""`toolassay classic run`: runs and scores an agent from configuration files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.benchmark import Classic
from toolassay.benchmarks.classic.data import PROMPTS
from toolassay.benchmarks.classic.evaluation import ClassicEvaluation, evaluate_chats
from toolassay.benchmarks.classic.options import ChatOptions, ChatScoring
from toolassay.benchmarks.classic.work import ChatWork, chat_prober
from toolassay.benchmarks.registry import benchmark_of
from toolassay.benchmarks.security.probe_results import probe
from toolassay.data_folder import DataFolder
from toolassay.errors import ToolassayError, UsageError
from toolassay.evaluation.evaluation import ScoringSettings
from toolassay.files import read_text
from toolassay.models import ModelOptions
from toolassay.models.refused_parameters import Default
from toolassay.runs import RunSummary
from toolassay.runs.run import run_trials
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
from toolassay.runs.work import Inference
from toolassay.screen import DEFAULT, Screen

AXES = ("cost", "latency", "accuracy", "stability", "security")
# Keys that look like credentials: matches "agent.api_key", "apikey" and "headers"; not "agent.max_tokens".
_SECRET = re.compile(
    r"(?:^|[._-]|api)(?:key|token|secret|passw(?:or)?d|credentials?|auth(?:orization)?|headers?)$",
    re.IGNORECASE,
)


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a string")
    return str(value)


def _number(value: Any) -> float:
    try:
        if isinstance(value, bool) or not math.isfinite(number := float(value)):
            raise ValueError
        return number
    except (ValueError, TypeError, OverflowError):
        raise ValueError("a number") from None


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number from 1")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(part) for part in (value if isinstance(value, list) else [value]))


def _axes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(axis in AXES for axis in value):
        raise ValueError(f"a list with some of {', '.join(AXES)}")
    return tuple(value)


KEYS: Mapping[str, Callable[[Any], Any]] = {
    "dataset.path_or_name": _text,
    "agent.name": _text,
    "agent.base_model": _text,
    "agent.api_base": _text,
    "agent.client": _text,
    "agent.stream": _flag,
    "agent.temperature": _number,
    "agent.top_p": _number,
    "agent.max_tokens": _count,
    "agent.order": _text,
    "agent.recorded": _text,
    "agent.none_as": _texts,
    "eval.n_trials": _count,
    "eval.limit": _count,
    "eval.limit_to_metrics": _axes,
}


_ELSEWHERE = {"llm": "agent.base_model", "data_dir": "dataset.path_or_name", "trials": "eval.n_trials"}


def nearest(name: str, flags: Iterable[str] = ()) -> str:
    """The key or flag that was probably meant: by full name, last part, or its name in other commands.

    >>> nearest("temprature"), nearest("evl", ["--eval"]), nearest("trials")
    ('agent.temperature', '--eval', 'eval.n_trials')
    """
    meant = {**{flag.lstrip("-"): flag for flag in flags}, **_ELSEWHERE, **dict(zip(KEYS, KEYS, strict=True))}
    for key in KEYS:
        meant.setdefault(key.rpartition(".")[2], key)
    return meant[get_close_matches(name, meant, n=1, cutoff=0)[0]]


def checked(key: str, value: Any) -> Any:
    """Validate and convert the value of a key; None stays None.

    Raises:
        ValueError: with a message that says what to do and never contains the value of a credential.

    >>> checked("agent.temperature", "1e-3"), checked("agent.order", 7)
    (0.001, '7')
    """
    if _SECRET.search(key):
        raise ValueError(
            f"{key}: a configuration must not contain credentials. Fix: set OPENAI_API_KEY, or put it in .env"
        )
    if key not in KEYS:
        raise ValueError(f"unknown key '{key}'. Fix: did you mean {nearest(key)}?")
    if value is None:
        return None
    try:
        return KEYS[key](value)
    except ValueError as error:
        raise ValueError(f"{key}: {value!r} is not {error}") from None


@dataclass(frozen=True)
class Configuration:
    """Values by dotted key; absent keys have their defaults."""

    values: Mapping[str, Any]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key of `KEYS`; `default` if it is not set."""
        assert key in KEYS, key
        value = self.values.get(key)
        return default if value is None else value


KINDS = ("data", "agent", "eval")
_PACKAGE = "toolassay.benchmarks.classic"


def read_configuration(names: Mapping[str, str], overrides: Sequence[str] = ()) -> Configuration:
    """Merge configuration files, later ones taking precedence, and then overrides.

    Args:
        names: a path or a bare name for each of `data`, `agent`, `eval`. A bare name is looked up as
            `configs/<kind>/<name>.yaml` below the current folder, then among the bundled configurations.
        overrides: `key=value` with a dotted key, as `agent.temperature=0.2`. The value is YAML and may
            contain further `=`.

    Raises:
        UsageError: a file does not exist or is malformed, a key is unknown or a credential, or a value is
            invalid.

    >>> found = read_configuration({"agent": "retrieval"}, ["agent.order=7"])
    >>> found.get("agent.base_model"), found.get("agent.order")
    ('offline', '7')
    """
    values: dict[str, Any] = {}
    for kind in KINDS:
        if kind in names:
            values |= _of_file(kind, names[kind])
    for override in overrides:
        key, value = _of_override(override)
        values[key] = value
    return Configuration(values)


def _of_file(kind: str, name: str) -> dict[str, Any]:
    path = _found(kind, name)
    tree = _parsed(read_text(path), path)
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise UsageError("is not a mapping", file=path, fix="write e.g. agent: {name: cot}")
    found = {}
    try:
        for key, value in _flat(tree):
            found[key] = checked(key, value)
    except ValueError as error:
        raise UsageError(str(error), file=path) from None
    except RecursionError:
        raise UsageError("is nested too deeply or refers to itself", file=path, fix="flatten it") from None
    return found


def _found(kind: str, name: str) -> Path:
    """The file of a path or bare name."""
    own = Path("configs") / kind / f"{name}.yaml"
    for path in (Path(name), own):
        if path.is_file():
            return path
    folder = Path(str(files(_PACKAGE) / "configs" / kind))
    bundled = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if name not in bundled:
        raise UsageError(
            f"no configuration --{kind} '{name}': no such file, nor {own}",
            fix=f"give a path, or one of {', '.join(bundled)}",
        )
    return bundled[name]


def _of_override(text: str) -> tuple[str, Any]:
    key, equals, written = text.removeprefix("--").partition("=")
    if not equals or not key:
        shown = text if not equals else "…"
        raise UsageError(f"cannot read {shown!r}", fix="write KEY=VALUE, e.g. agent.temperature=0.2")
    try:
        checked(key, None)  # before the value is parsed, because it may be a credential
        value = _parsed(written, None)
        if isinstance(value, bool) and written.lower() not in ("true", "false"):
            value = written  # YAML 1.1 reads "no" and "on" as booleans
        return key, checked(key, value)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _parsed(text: str, path: Path | None) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None and path is not None else None
        problem = getattr(error, "problem", None) or "malformed"
        raise UsageError(
            f"is not valid YAML: {problem}", file=path, line=line, fix="correct the syntax"
        ) from None
    except (RecursionError, ValueError):  # a date such as 2024-02-31, an integer of 5,000 digits
        raise UsageError("cannot be parsed as YAML", file=path, fix="correct its values") from None


def _flat(tree: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The values by dotted key."""
    for name, value in tree.items():
        key = f"{before}{name}"
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


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
    inference = run_trials(lambda number: ChatWork(folder, run, own, number), place, run)
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
                if (re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", name) is not None)
                else ""
            ),
        )
    folder = DataFolder(path)
    if benchmark_of(folder).name != "classic":
        raise UsageError(
            "holds no tables of chats", file=path, fix="see docs/classic.md for the tables of a data folder"
        )
    return folder


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
