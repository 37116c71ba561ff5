"""`surface`, `noise`: which version of one's tools is better, and what a set can find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from toolassay.benchmarks.registry import RUN_OPTIONS
from toolassay.cli.command import command
from toolassay.cli.options import DataDir, served, typed
from toolassay.cli.screen import SCREEN
from toolassay.declarations import Option
from toolassay.runs.settings import Limits, ModelSettings
from toolassay.stages.settings import Calibrations, PredictionDir, SurfaceSettings


@command("surface")
def surface_command(
    before: Annotated[str, Option(positional=True, metavar="OLD")],
    after: Annotated[str, Option(positional=True, metavar="NEW")],
    data_dir: DataDir,
    out: Annotated[
        Path | None, Option("Folder of the comparison [default: DATA_DIR/surface].", common=True)
    ] = None,
    settings: SurfaceSettings = SurfaceSettings(),
    junit: Annotated[Path | None, Option("JUnit file for the verdict.", common=True)] = None,
    summary: Annotated[
        Path | None,
        Option("Markdown file to which the verdict is added, e.g. $GITHUB_STEP_SUMMARY.", common=True),
    ] = None,
    model: ModelSettings = ModelSettings(),
    limits: Limits = Limits(),
    own: Annotated[Any, RUN_OPTIONS] = None,
) -> int:
    """Say which of two versions of a server or tool file is better, how sure that is, and what to blame.

    The same goals are asked on OLD and NEW by the same model or agent. With --executor mcp both are servers
    (command lines or addresses), on which gold and calls run; else plans are compared, and a version is a
    data folder or what `import mcp` takes. The same command continues a comparison. Exit codes: 0 better or
    no difference, 3 no decision, 4 worse.
    """
    from toolassay.stages.surface import surface

    compared = surface(
        before,
        after,
        data_dir,
        model=served(model),
        limits=limits,
        settings=settings,
        own=own,
        out=out,
        junit=junit,
        summary=summary,
        command=typed(),
        screen=SCREEN,
    )
    return 0 if compared.verdict is None else compared.verdict.exit_code


@command("noise")
def noise_command(
    models: Annotated[Sequence[str], Option(positional=True, metavar="MODEL [MODEL …]")],
    data_dir: DataDir,
    prediction_dir: PredictionDir = "predictions",
    calibration: Calibrations = (),
    save: Annotated[Path | None, Option("Also write the result to this JSON file.")] = None,
) -> None:
    """Say how much of a score is noise, and what the set can find.

    Noise between runs and between items, pass^k in both published conventions, the smallest difference
    between two models that is found, how many items and runs a difference needs, how a ranking holds on fewer
    items, and how far judges agree. The models were evaluated before.
    """
    from toolassay.stages.noise import noise

    noise(
        *models,
        data_dir=data_dir,
        prediction_dir=prediction_dir,
        calibration=calibration,
        save=save,
        screen=SCREEN,
    )
