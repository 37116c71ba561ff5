"""The variety stage: measures the diversity of a data set, in numbers, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.console.screen import DEFAULT, Screen
from toolassay.console.text_formatting import count_of
from toolassay.engines import open_engine
from toolassay.errors import UsageError, made_by
from toolassay.files.data_files import line_ranges, read_json
from toolassay.graph import ToolGraph
from toolassay.records.data_folder import DataFolder
from toolassay.stages.settings import VarietySettings
from toolassay.tools.library import ToolLibrary
from toolassay.variety import measures
from toolassay.variety.measures import (
    PART,
    REPORT_FILES,
    VarietyPart,
    VarietyReport,
    VarietyTask,
    write_variety,
)
from toolassay.variety.near_duplicates import Thresholds


def measure_variety(
    data_dir: str | Path,
    *,
    out: str | Path = "variety",
    settings: VarietySettings = VarietySettings(),
    screen: Screen = DEFAULT,
) -> VarietyReport:
    """Measure the diversity of a data set.

    Args:
        data_dir: Folder with `data.json`, or `user_requests.json` without labels. Coverage needs the tools
            and their graph.
        out: Output folder for `variety.json`, `variety.md` and the pictures.
        settings: Threshold of repeats, sample and engine.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: The data set is missing or malformed, `out` is a file, or the report would replace files
            of another program.
        ToolassayError: The folder cannot be written.
    """
    folder, bars = DataFolder(Path(data_dir)).require(), Thresholds(settings.threshold)
    refuse_other_benchmarks(folder)
    labels = folder.data if folder.data.exists() else folder.user_requests
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise UsageError("is a file, a folder is needed", file=out, fix="choose another --out")
    _check_output(out)

    graph = _graph(folder, screen)
    library = graph.library if graph is not None else _library(folder)
    with open_engine(settings.engine) as opened:

        def parts() -> Iterator[VarietyPart]:
            # The number of samples is not known before the file is read, so the progress has one step.
            with screen.progress(f"read {labels}", 1) as advance:
                yield from opened.map(
                    VarietyTask(labels.absolute()), line_ranges(labels, PART, fix=made_by("format"))
                )
                advance()

        figures = measures.measure_variety(
            parts(),
            library=library,
            graph=graph,
            thresholds=bars,
            sample=settings.sample,
            seed=settings.seed,
        )
    report = write_variety(out, figures)
    _report(report, screen)
    return report


def _check_output(out: Path) -> None:
    """Allow to replace an earlier report only.

    Raises:
        UsageError: There is a file with the name of a report file, but no report.
    """
    with suppress(UsageError):
        earlier = read_json(out / "variety.json")
        if isinstance(earlier, dict) and {"repeats", "wording"} <= earlier.keys():
            return
    for name in REPORT_FILES:
        if (out / name).exists():
            raise UsageError("is not part of a variety report", file=out / name, fix="choose another --out")


def _graph(folder: DataFolder, screen: Screen) -> ToolGraph | None:
    """The graph in `graph_desc.json`, else the one that the tools imply; None without tools."""
    if folder.graph_desc.exists():
        return folder.graph(folder.benchmark.dependency_type, say=screen.say)
    library = _library(folder)
    if library is None:
        return None
    with suppress(UsageError):
        return ToolGraph.build(library, folder.dependency_type(None, library=library, say=screen.say))
    return None


def _library(folder: DataFolder) -> ToolLibrary | None:
    return folder.library() if folder.tool_desc.exists() else None


def _report(report: VarietyReport, screen: Screen) -> None:
    figures = report.figures
    repeats = figures["repeats"]
    duplicates = f"{repeats['exact']:,} exact and {repeats['near']:,} near duplicates"
    screen.show(f"{count_of(figures['requests'], 'request')}: {duplicates}")
    for name, what in (("tools", "tools"), ("links", "possible links")):
        part = figures[name]
        if "not_applicable" in part:
            screen.show(f"{name}: not applicable: {part['not_applicable']}")
        else:
            screen.show(f"{part['used']:,} of {part.get('possible', part.get('tools')):,} {what} are used")
    for file in report.files:
        screen.show(str(file))
