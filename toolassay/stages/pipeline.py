"""The pipeline stage: runs all stages from a tool list to scored models and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.data_folder import DataFolder, find_file
from toolassay.errors import ToolassayError, UsageError
from toolassay.evaluation.evaluation import FolderEvaluation
from toolassay.files import safe_name
from toolassay.graph import ToolGraph, tools_agree
from toolassay.models import ModelOptions
from toolassay.runs import Budget
from toolassay.runs.settings import Limits, ModelSettings, gather, refuse_unknown
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.check import Checked
from toolassay.stages.evaluate import evaluate
from toolassay.stages.generate import generate
from toolassay.stages.generation_work import SampleSettings
from toolassay.stages.graph import build_graph, visualize
from toolassay.stages.infer import infer
from toolassay.stages.release import release
from toolassay.tables import Result
from toolassay.tools import ToolLibrary

_SAMPLES = 300
_REWRITES = 2
_SAMPLING = SampleSettings(seed=0)


@dataclass(frozen=True, repr=False)
class Piped(Result):
    """The scores of each model, and whether every sample and request has an answer."""

    evaluations: list[FolderEvaluation]
    complete: bool


def pipeline(
    data_dir: str | Path,
    *,
    tool_desc: str | Path | None = None,
    dependency_type: str | None = None,
    llm: Sequence[str] = ("offline",),
    generator: str = "offline",
    critic: Sequence[str] = (),
    rewrite: int | None = None,
    options: ModelOptions | None = None,
    samples: SampleSettings | None = _SAMPLING,
    limits: Limits | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> Piped:
    """Create graph, pictures, requests with gold plans, predictions and scores in one data folder.

    Models are tested with the samples that pass the gates (`release`).

    Args:
        data_dir: Data folder, created if missing; finished stages are not repeated.
        tool_desc: Tool file; default: that of `data_dir`.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        llm: Names of the models under test.
        generator: Model that writes requests and gold plans.
        critic: Models that review the samples, besides the gates.
        rewrite: How often a sample that does not pass the gates goes back to a served generator, by default
            2; the offline writer decides itself (`WritingSettings.rewrite`).
        options: Endpoint of served models.
        samples: Which subgraphs are sampled; by default 300 with seed 0.
        limits: Limits of each run: of the generation and of the inference with each model.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.
        keywords: Fields of `limits` and `samples`; they replace the fields of the given objects.

    Returns:
        The scores of each model with predictions (a warning names the others), and whether every sample and
        every request has an answer. Without a sample that passes the gates, no model is run.

    Raises:
        UsageError: A file is missing or malformed.
        TypeError: A keyword is unknown.
        ToolassayError: A model cannot be reached, or the budget allows no request.
    """
    limits = gather(limits or Limits(), keywords)
    samples = gather(samples or _SAMPLING, keywords)
    if samples.number_of_samples is None and samples.cover is None:
        samples = replace(samples, number_of_samples=samples.until or _SAMPLES)
    refuse_unknown("pipeline", keywords)
    step = _Steps(screen, 4 + 2 * len(llm))
    folder = f"--data_dir {data_dir}"
    _check_tools(DataFolder(Path(data_dir)), tool_desc)
    step("generate_graph.py", folder, f"--tool_desc {tool_desc}" if tool_desc else "")
    if not _has_graph(DataFolder(Path(data_dir)), dependency_type, screen):
        build_graph(data_dir, tool_desc=tool_desc, dependency_type=dependency_type, screen=screen)
    step("visualize_graph.py", folder)
    try:
        visualize(data_dir, screen=screen)
    except UsageError as error:  # thousands of tools
        screen.say(f"{WARNING}no pictures: {error}")
    flags = _flags(limits)
    shared: dict[str, Any] = {"options": options, "limits": limits, "command": command, "screen": screen}
    rewrite = None if generator == "offline" else _REWRITES if rewrite is None else rewrite
    again = "" if rewrite is None else f"--rewrite {rewrite}"
    step("data_engine.py", folder, f"--llm {generator} --check true", again, _sample_flags(samples), flags)
    _, complete = generate(
        data_dir,
        llm=generator,
        check=True,
        samples=samples,
        rewrite=rewrite,
        **shared,
    )
    if not DataFolder(Path(data_dir)).data_raw.exists():
        raise ToolassayError(
            f"{generator} wrote no sample",
            fix="see the messages above; raise the limits if they were reached",
        )
    step("-m toolassay release", folder, "--critic " + " --critic ".join(critic) if critic else "")
    released = release(
        data_dir,
        critic=critic,
        model=ModelSettings(options=options),
        limits=limits,
        command=command,
        screen=screen,
    )
    complete = complete and released.complete
    if not released.levels["pass"]:
        screen.say(f"{WARNING}no model is run: {_worst(released)}")
        return Piped([], False)
    failures: dict[str, ToolassayError] = {}
    for name in llm:
        step("inference.py", folder, f"--llm {name}", flags)
        try:
            inference = infer(data_dir, llm=name, **shared)
            if not inference.written:
                raise ToolassayError("no request has an answer", fix="see the messages above")
            complete = complete and inference.summary.complete
        except ToolassayError as error:
            screen.say(f"{WARNING}{name} is left out: {error}")
            failures[name] = error
    evaluations: list[FolderEvaluation] = []
    for name in (name for name in llm if name not in failures):
        step("evaluate.py", folder, f"--llm {name} --splits all")
        evaluations += evaluate(data_dir, llm=name, splits=["all"], screen=screen)
    if not evaluations:
        raise next(iter(failures.values()))
    return Piped(evaluations, complete)


def _worst(released: Checked) -> str:
    """Which gate holds back most."""
    rows = released.funnel["funnel"]
    worst = max(rows, key=lambda row: int(row["reject"]) + int(row["quarantine"]))
    held = worst["reject"] + worst["quarantine"]
    return f"no sample passes; the gate '{worst['gate']}' holds back {held:,} of {released.funnel['input']:,}"


def _sample_flags(samples: SampleSettings) -> str:
    """What differs from the defaults of `generate`, as command-line flags."""
    flags = {
        "seed": samples.seed,
        "number_of_samples": samples.number_of_samples,
        "by_score": None if samples.by_score else "false",
        "cover": samples.cover,
        "at_least": samples.at_least if samples.at_least > 1 else None,
        "until": samples.until,
    }
    return " ".join(f"--{name} {value}" for name, value in flags.items() if value is not None)


def _flags(limits: Limits) -> str:
    """The limits as command-line flags."""
    budget = limits.budget or Budget()
    flags = {
        "multiworker": limits.multiworker,
        "max_cost": budget.cost,
        "max_tokens_total": budget.tokens,
        "max_requests": budget.requests,
    }
    return " ".join(f"--{name} {value}" for name, value in flags.items() if value is not None)


def _check_tools(folder: DataFolder, tool_desc: str | Path | None) -> None:
    """Refuse tools that differ from those of the folder, before anything is written.

    Raises:
        UsageError: They differ.
    """
    if tool_desc is None or not folder.tool_desc.exists():
        return
    if ToolLibrary.load(find_file(tool_desc, folder.path)).tools != ToolLibrary.load(folder.tool_desc).tools:
        raise UsageError(
            f"holds other tools than {tool_desc}", file=folder.tool_desc, fix="use another --data_dir"
        )


def _has_graph(folder: DataFolder, dependency_type: str | None, screen: Screen) -> bool:
    """Whether the folder has a graph of its tools; it may be edited by hand, so it is used unchanged."""
    if not folder.graph_desc.exists() or not folder.tool_desc.exists():
        return False
    graph = ToolGraph.load(folder.graph_desc)
    is_schema = graph.dependency_type == "schema"
    fits = tools_agree(ToolLibrary.load(folder.tool_desc), graph.library, schemas=is_schema)
    fits = fits and dependency_type in (None, graph.dependency_type)
    if fits:
        screen.show(f"{folder.graph_desc}: there already, used as it is")
    return fits


def files_of(data_dir: str | Path, llm: Sequence[str]) -> list[tuple[str, str]]:
    """The output files as pairs (description, path)."""
    place = Path(data_dir)
    pictures = [
        ("the tool graph to explore", "graph_desc.html"),
        ("the tool graph as a picture", "graph_desc.png"),
    ]
    rows = [
        *((what, path) for what, path in pictures if (place / path).exists()),
        ("requests that pass the gates", "data.json"),
        ("what the gates found", "funnel.md"),
        *((f"plans of {name}", f"predictions/{safe_name(name)}.json") for name in llm),
        *((f"scores of {name}", f"metrics/{safe_name(name)}.json") for name in llm),
    ]
    return [(what, str(place / path)) for what, path in rows]


class _Steps:
    """Announces each stage as the command that would run it alone."""

    def __init__(self, screen: Screen, total: int) -> None:
        self._screen, self._total, self._done = screen, total, 0

    def __call__(self, script: str, *arguments: str) -> None:
        self._done += 1
        words = " ".join(word for word in (f"python {script}", *arguments) if word)
        self._screen.say(f"\n[{self._done}/{self._total}] {words}")
