"""All stages in a row: from a tool list to scored models and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolgraph.benchmarks.taskbench.score_folder import FolderEvaluation
from toolgraph.files import safe_name
from toolgraph.models import ModelOptions
from toolgraph.stages.evaluate import evaluate
from toolgraph.stages.format import format_data
from toolgraph.stages.generate import generate
from toolgraph.stages.graph import build_graph
from toolgraph.stages.infer import infer
from toolgraph.stages.screen import SILENT, Screen
from toolgraph.stages.visualize import visualize


def pipeline(
    data_dir: str | Path,
    *,
    tool_desc: str | Path | None = None,
    dependency_type: str | None = None,
    llm: Sequence[str] = ("offline",),
    generator: str = "offline",
    options: ModelOptions | None = None,
    number_of_samples: int = 300,
    seed: int = 0,
    multiworker: int = 5,
    screen: Screen = SILENT,
) -> list[FolderEvaluation]:
    """Graph, pictures, requests with gold plans, predictions and scores, in one data folder.

    Args:
        data_dir: made if missing; a stage that was done already is continued, not repeated.
        tool_desc: the tools; default those of `data_dir`.
        dependency_type: resource or temporal; default what the folder says.
        llm: the models to be tested.
        generator: the model that writes requests and gold.
        options: where served models are.
        number_of_samples: how many requests.
        seed: of the samples.
        multiworker: requests in flight.
        screen: who listens.

    Returns:
        The scores of each model.

    Raises:
        UsageError: files missing or malformed.
        ToolgraphError: a model cannot be reached.
    """
    step = _Steps(screen, 4 + 2 * len(llm))
    folder = f"--data_dir {data_dir}"
    step("generate_graph.py", folder, f"--tool_desc {tool_desc}" if tool_desc else "")
    build_graph(data_dir, tool_desc=tool_desc, dependency_type=dependency_type, screen=screen)
    step("visualize_graph.py", folder)
    visualize(data_dir, screen=screen)
    step("data_engine.py", folder, f"--llm {generator} --check true --seed {seed}")
    generate(
        data_dir,
        llm=generator,
        options=options,
        check=True,
        seed=seed,
        number_of_samples=number_of_samples,
        multiworker=multiworker,
        screen=screen,
    )
    step("format_data.py", folder)
    format_data(data_dir, screen=screen)
    for name in llm:
        step("inference.py", folder, f"--llm {name}")
        infer(data_dir, llm=name, options=options, multiworker=multiworker, screen=screen)
    evaluations: list[FolderEvaluation] = []
    for name in llm:
        step("evaluate.py", folder, f"--llm {name} --splits all")
        evaluations += evaluate(data_dir, llm=name, splits=["all"], screen=screen)
    return evaluations


def files_of(data_dir: str | Path, llm: Sequence[str]) -> list[tuple[str, str]]:
    """Where everything lies afterwards: (what, path)."""
    place = Path(data_dir)
    rows = [
        ("the tool graph to explore", "graph_desc.html"),
        ("the tool graph as a picture", "graph_desc.png"),
        ("requests with gold plans", "data.json"),
        *((f"plans of {name}", f"predictions/{safe_name(name)}.json") for name in llm),
        *((f"scores of {name}", f"metrics/{safe_name(name)}.json") for name in llm),
    ]
    return [(what, str(place / path)) for what, path in rows]


class _Steps:
    """Says which stage begins, as the command that would run it alone."""

    def __init__(self, screen: Screen, total: int) -> None:
        self._screen, self._total, self._done = screen, total, 0

    def __call__(self, script: str, *arguments: str) -> None:
        self._done += 1
        words = " ".join(word for word in (f"python {script}", *arguments) if word)
        self._screen.say(f"\n[{self._done}/{self._total}] {words}")
