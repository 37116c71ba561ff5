"""From a server to a released set: values, links, requests with gold, executions, judgement, a card."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.data_folder import DataFolder
from toolassay.errors import IncompleteError, ToolassayError, UsageError
from toolassay.executors.workspace import PLACEHOLDER
from toolassay.files import read_json_lines, write_text
from toolassay.gates.calibration import Calibration, read_calibrations, standing
from toolassay.gates.checked_folder import GATES
from toolassay.gates.gate import read_gates
from toolassay.gates.gate_pipeline import ExecutionGate
from toolassay.link_proposals import ProposeOptions
from toolassay.locks import temporary_folder
from toolassay.metrics.confidence_interval import Interval, proportion_interval
from toolassay.review.decision import FOLDER as REVIEWS
from toolassay.runs.ledger import FREE
from toolassay.runs.settings import Limits, ModelSettings, gather, refuse_unknown
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.check import Checked
from toolassay.stages.generate import MODEL, generate
from toolassay.stages.generation_work import SampleSettings, WritingSettings, recorded_rounds
from toolassay.stages.graph import build_graph
from toolassay.stages.import_tools import import_tools
from toolassay.stages.live_values import LiveSettings
from toolassay.stages.release import release
from toolassay.stages.review import publishable_by_people
from toolassay.stages.split import split
from toolassay.tables import Result, Table

CARD = "CARD.md"
"""What became of the samples that were asked for, in the data folder."""
_FEWEST_TO_SPLIT = 3
_WITHOUT_MODEL = (
    "Without a model (--llm MODEL), rules list the calls as work orders: they try the pipeline and are no "
    "requests that people make. A model writes goals and words, declines where nothing is sensible, and a "
    "second one (--critic MODEL) judges them."
)


@dataclass(frozen=True, repr=False)
class MadeSet(Result):
    """How a set came about.

    Attributes:
        asked: Samples that the writer was asked for.
        declined: Those for which it found nothing sensible.
        written: Those with a request and a plan.
        passed: Those that pass the gates, the execution and the critics: the set.
        ran: Those of the set whose plan was executed without an error.
        tools: Tools that occur in the set, and all.
        links: Links that occur in the set, and all.
        publishable: Share of the set that people would publish, with its interval (95 %): as they decided on
            samples of it, else by the calibration of the critic; None without either.
        requests: Requests to models that wrote and judged.
        cost_usd: US dollars; None if unknown.
        complete: Whether as many samples pass as were wanted.
    """

    asked: int
    declined: int
    written: int
    passed: int
    ran: int
    tools: tuple[int, int]
    links: tuple[int, int]
    publishable: Interval | None
    requests: int
    cost_usd: float | None
    complete: bool


def make_set(
    data_dir: str | Path,
    *,
    live: LiveSettings,
    llm: str = "offline",
    critic: Sequence[str] = (),
    calibration: Sequence[str | Path] = (),
    rewrite: int | None = None,
    model: ModelSettings | None = None,
    samples: SampleSettings | None = None,
    limits: Limits | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> MadeSet:
    """Make a data set from a server's tools: written, executed and judged until enough samples pass.

    A second start goes on where the first one stopped.

    Args:
        data_dir: Data folder; without tools in it, those of the MCP server are imported.
        live: The server.
        llm: The model that writes. "offline" writes work orders by rules.
        critic: Models that judge each sample; their findings go back to the writer.
        calibration: Files of `critic --calibrate` that say how far these critics agree with people.
        rewrite: How often an answer goes back to the writer; None as for `generate`.
        model: Endpoint of the models; as for `generate`.
        samples: `number_of_samples` is the number that must pass.
        limits: Limits of the writing, critics included.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.
        keywords: Fields of the three options objects; they replace the fields of the given objects.

    Raises:
        UsageError: A file is missing or malformed, or the server cannot be used as given.
        ToolassayError: A model or the server does not work, or no sample was written.
    """
    model = gather(model or MODEL, keywords)
    samples = gather(samples or SampleSettings(seed=0), keywords)
    limits = gather(limits or Limits(), keywords)
    refuse_unknown("pipeline", keywords)
    standing(critic, map(Path, calibration))
    folder = DataFolder(Path(data_dir))
    step = _Steps(screen)
    if not folder.tool_desc.exists():
        step("import the tools of the server")
        _import(folder, live, screen)
    if not folder.graph_desc.exists():
        step("build the graph of the tools")
        propose = None
        if llm not in FREE:
            propose = ProposeOptions(llm, model.endpoint(limits), limits, command=command)
        try:
            build_graph(folder.path, propose=propose, screen=screen)
        except IncompleteError as error:  # the graph has the links that were proposed so far
            screen.say(f"{WARNING}{error}")
    step("collect values, write requests with plans, and execute them")
    wanted = samples.number_of_samples or samples.until or 100
    generate(
        folder.path,
        model=replace(model, llm=llm),
        samples=replace(samples, number_of_samples=None, until=wanted),
        writing=WritingSettings(critic=critic, rewrite=rewrite),
        limits=limits,
        live=live,
        command=command,
        screen=screen,
    )
    folder = DataFolder(folder.path)
    if not folder.data_raw.exists():
        raise ToolassayError(f"{llm} wrote no sample", fix="see the messages above")
    step("execute the plans again, and release what passes")
    released = release(folder.path, live=live, calibration=calibration, command=command, screen=screen)
    if released.levels["pass"] >= _FEWEST_TO_SPLIT:
        step("split")
        split(folder.path, screen=screen, force=True)
    known = read_calibrations(map(Path, calibration))
    made = _counted(folder, released, wanted, list(known.values()))
    text = _card(made, llm, released.funnel.get("critics", {}).values())
    write_text(folder.path / CARD, text)
    screen.show(text)
    return made


def _import(folder: DataFolder, live: LiveSettings, screen: Screen) -> None:
    """Import the tools of an MCP server, which is started on a copy of the workspace.

    Raises:
        UsageError: It is no MCP server.
    """
    server = getattr(live.options, "server", "") if live.executor == "mcp" else ""
    if not server:
        raise UsageError("has no tools", file=folder.path, fix="run toolassay import first")
    with temporary_folder() as place:
        if live.options.workspace:
            copy = place / "workspace"
            shutil.copytree(live.options.workspace, copy)
            server = server.replace(PLACEHOLDER, str(copy))
        import_tools("mcp", server, folder.path, header=live.options.header, screen=screen)


def _counted(
    folder: DataFolder, released: Checked, wanted: int, calibrations: Sequence[Calibration]
) -> MadeSet:
    lines = [line for _, line in read_json_lines(folder.path / "statistics.json") if isinstance(line, dict)]
    ended = next(line for line in reversed(lines) if line.get("event") == "ended")
    coverage, passed = released.funnel["coverage"], released.levels["pass"]
    declined, used = len(ended["declined"]), ended["used"]
    checked = read_gates(folder.path / GATES)
    ran = sum(one.level == "pass" and one.gates.get(ExecutionGate.name) == "pass" for one in checked)
    rounds = recorded_rounds(DataFolder(folder.path))
    return MadeSet(
        rounds[-1].end or 0,
        declined,
        ended["samples"],
        passed,
        ran,
        (coverage["tools"]["with_passing"], coverage["tools"]["total"]),
        (coverage["edges"]["with_passing"], coverage["edges"]["total"]),
        by_people(folder) or publishable(calibrations),
        used["requests"],
        used["cost_usd"],
        passed >= wanted,
    )


def by_people(folder: DataFolder) -> Interval | None:
    """The share of what people looked at that they found correct; None without a decision."""
    correct, decided = publishable_by_people(folder.path) if (folder.path / REVIEWS).is_dir() else (0, 0)
    return proportion_interval(correct, decided) if decided else None


def publishable(calibrations: Sequence[Calibration]) -> Interval | None:
    """The share that people would publish of what a critic passes, by its calibration; the worst of several.

    It holds as far as the set is like the samples that people judged.
    """
    shares = []
    for one in calibrations:
        last = one.agreement[-1]
        if last.both_yes + last.people_no:
            shares.append(proportion_interval(last.both_yes, last.both_yes + last.people_no))
    return min(shares, key=lambda share: share.low or 0, default=None)


def _card(made: MadeSet, llm: str, critics: Collection[str]) -> str:
    share = made.publishable
    shown = "unknown" if share is None else f"{share.value:.0%} [{share.low:.0%}, {share.high:.0%}]"
    money = "unknown" if made.cost_usd is None else f"${made.cost_usd:.2f}"
    rows = [
        ("asked", made.asked),
        ("declined by the writer", made.declined),
        ("written", made.written),
        ("passed: the set", made.passed),
        ("ran on the server", f"{made.ran} of {made.passed}"),
        ("tools in the set", "{} of {}".format(*made.tools)),
        ("links in the set", "{} of {}".format(*made.links)),
        ("publishable", shown),
        ("requests to models, to write and judge", made.requests),
        ("cost", money),
    ]
    table = Table(("", "samples"), [(name, str(value)) for name, value in rows], "lr").markdown()
    lines = [f"# How this set was made\n\n{table}\n\nWritten by {llm}."]
    if llm in FREE:
        lines.append(_WITHOUT_MODEL)
    lines += critics or ["No critic judged the set."]
    return "\n\n".join(lines) + "\n"


class _Steps:
    def __init__(self, screen: Screen) -> None:
        self._screen, self._done = screen, 0

    def __call__(self, what: str) -> None:
        self._done += 1
        self._screen.say(f"\n[{self._done}] {what}")
