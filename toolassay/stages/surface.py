"""Compares two versions of a server or tool file: the same goals, asked on both by the same model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from toolassay.benchmarks.registry import RUN_OPTIONS, benchmark_of, has_plans
from toolassay.console.screen import DEFAULT, Screen
from toolassay.console.tables import Result
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json, write_text
from toolassay.plans.execution_record import WORLD
from toolassay.records.data_folder import DataFolder
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.stages.settings import SurfaceSettings
from toolassay.stages.surface_runs import ComparedRuns, act, verdict_of
from toolassay.stages.surface_sides import comparable_goals, import_tools_of, side_of, tool_mapping
from toolassay.surfaces.verdict import SurfaceVerdict

_RESULT = "surface.json"


@dataclass(frozen=True, repr=False)
class Compared(Result):
    """The result of a comparison.

    Attributes:
        verdict: The verdict; None for a dry run.
        path: `surface.json`.
    """

    verdict: SurfaceVerdict | None
    path: Path


def surface(
    before: str | Path,
    after: str | Path,
    data_dir: str | Path,
    *,
    model: ModelSettings = ModelSettings(),
    limits: Limits = Limits(),
    settings: SurfaceSettings = SurfaceSettings(),
    own: Annotated[Any, RUN_OPTIONS] = None,
    out: str | Path | None = None,
    junit: str | Path | None = None,
    summary: str | Path | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> Compared:
    """Compare two versions of a server or tool file by the goals of a data folder.

    With `executor="mcp"`, both are MCP servers on which everything runs. Else plans are compared, and a
    version is a data folder, or what `import mcp` takes. The same call continues a comparison.

    Args:
        before: The old version, whose tools the goals name.
        after: The new version.
        data_dir: Data folder with the goals, generated or cases.
        model: The model or agent that acts on both.
        limits: Limits of both sides together.
        settings: How they are compared.
        own: Options of the folder's benchmark; `ask` is "tools" on servers, else "calls", by default.
        out: Folder of the comparison; default: `surface` in the data folder.
        junit: JUnit file for the verdict.
        summary: Markdown file to which the verdict is added, as for a pull request.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.

    Returns:
        The verdict, which is also in `surface.json` and `surface.md` of `out`.

    Raises:
        UsageError: A version has no tools, `mapping.json` lacks a decision about a tool, or no
            goal can be compared.
        ToolassayError: A model or a server does not work.
    """
    model.require_name()
    folder = DataFolder(Path(data_dir)).require()
    if not has_plans(folder):
        title = benchmark_of(folder).about.title
        raise UsageError(f"{title} has tools of its own", file=folder.path, fix="use a folder of your tools")
    place = Path(out) if out is not None else folder.path / "surface"
    own = benchmark_of(folder).options.run() if own is None else own
    if own.executor not in ("mcp", WORLD):
        raise UsageError(f"--executor {own.executor} is of one version", fix="use --executor mcp, or none")
    run = RunSettings(model, limits, RunChoices(dry_run=settings.dry_run), command, screen)
    baseline = settings.baseline
    if baseline is not None and not baseline.is_file():
        raise UsageError("no such file", file=baseline, fix="give --baseline a surface.json")
    old = side_of("before", str(before), place, own, is_kept=baseline is not None)
    if baseline is not None and not old.folder.path.exists():
        shutil.copytree(baseline.parent / "before", old.folder.path)
    sides = old, side_of("after", str(after), place, own)
    for side in sides:
        import_tools_of(side, folder, screen)
    libraries = [side.folder.library() for side in sides]
    mapping = tool_mapping(place, libraries[0], libraries[1], settings, run)
    lost: dict[Any, str] = {}
    order = comparable_goals(folder, sides, mapping, lost, run, settings.seed)[: settings.limit]
    if settings.dry_run:
        for side in sides:
            screen.show(f"{side.name}: {side.source}")
            for number in range(settings.trials):
                act(side, sides, order, number, run)
        return Compared(None, place / _RESULT)
    runs = ComparedRuns(sides, order, run, settings)
    runs.carry_out()
    verdict = verdict_of(runs, mapping, lost, libraries)
    place.mkdir(parents=True, exist_ok=True)
    write_json(place / _RESULT, msgspec.to_builtins(verdict))
    write_text(place / "surface.md", verdict.markdown)
    if junit is not None:
        write_text(Path(junit), verdict.junit)
    if summary is not None:
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(verdict.markdown)
    screen.show(verdict.sentence)
    screen.show(f"{place / _RESULT}; for people {place / 'surface.md'}")
    return Compared(verdict, place / _RESULT)
