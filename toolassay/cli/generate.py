"""`generate`, `format`, `release`, `pipeline`: the commands that make a data set, and all stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from toolassay.cli.command import command
from toolassay.cli.options import PASSED, DataDir, GivenDataDir, ToolDesc, connected, served, typed
from toolassay.cli.screen import SCREEN, show
from toolassay.declarations import Option
from toolassay.engines import EngineName
from toolassay.errors import UsageError
from toolassay.models.options import ModelOptions
from toolassay.runs.settings import Limits, ModelSettings, RunStart
from toolassay.stages.settings import (
    GENERATOR,
    PIPELINE_SAMPLES,
    Calibrations,
    Critics,
    DependencyTypeName,
    DifficultyName,
    LiveSettings,
    SampleSettings,
    WritingSettings,
)

_Rewrite = Annotated[
    int | None,
    Option(
        "How often a sample that does not pass the gates goes back to the generator with what they found "
        "[default: 2; with --server as for `generate`].",
        minimum=0,
        maximum=10,
    ),
]


@command("generate", more=[PASSED])
def generate_command(
    data_dir: Annotated[Path | None, Option("The data folder [default: a new one].", common=True)] = None,
    graph_desc: Annotated[Path | None, Option("Tool graph of a new folder.", common=True)] = None,
    tool_desc: Annotated[Path | None, Option("Tools of a new folder.", common=True)] = None,
    model: ModelSettings = GENERATOR,
    limits: Limits = Limits(),
    choices: RunStart = RunStart(),
    dependency_type: DependencyTypeName = None,
    samples: SampleSettings = SampleSettings(),
    use_async: Annotated[
        bool,
        Option("Ignored; kept for the published script. Requests are always concurrent.", hidden=True),
    ] = False,
    writing: WritingSettings = WritingSettings(),
    live: LiveSettings | None = None,
    play: Annotated[
        bool, Option("Generate one sample and show the model's answer; writes nothing.", common=True)
    ] = False,
) -> int:
    """Generate requests with gold plans for sampled subgraphs (Back-Instruct).

    The last line of the output is the data folder. Pass it as --data_dir to continue an interrupted run.
    """
    from toolassay.stages import generate as stage

    if live is not None and not live.executor:
        raise UsageError("options of executors are for --values_from", fix="add --values_from, or omit them")
    model = served(model)
    if play and choices.dry_run:
        raise UsageError("--play sends a request, --dry_run sends none", fix="use one of them")
    if play and model.options is not None and model.options.batch:
        raise UsageError("--play shows the answer to one request", fix="leave --batch out")
    if play and choices.engine:
        raise UsageError("--play generates one sample", fix="omit --engine")
    arguments: dict[str, Any] = {
        "graph_desc": graph_desc,
        "tool_desc": tool_desc,
        "dependency_type": dependency_type,
        "model": model,
        "limits": limits,
        "samples": samples,
        "writing": writing,
        "choices": choices,
        "live": live,
        "command": typed(),
        "screen": SCREEN,
    }
    if play:
        return 0 if stage.play(data_dir, **arguments) is not None else 3
    folder, complete = stage.generate(data_dir, **arguments)
    if choices.dry_run:
        return 0
    show(str(folder))
    return 0 if complete else 3


@command("format")
def format_command(
    data_dir: DataDir,
    dependency_type: DependencyTypeName = None,
    force: Annotated[
        bool,
        Option(
            "Replace a data set that this command did not write, or change the dependency type; dated copies "
            "are kept."
        ),
    ] = False,
) -> None:
    """Turn generated samples into a data set and show how many the critics pass."""
    from toolassay.stages.release import format_data

    format_data(data_dir, dependency_type=dependency_type, force=force, screen=SCREEN)


@command("release")
def release_command(
    data_dir: GivenDataDir,
    critic: Critics = (),
    calibration: Calibrations = (),
    endpoint: ModelOptions | None = None,
    limits: Limits = Limits(),
    engine: EngineName = None,
    force: Annotated[
        bool, Option("Replace a data set that was edited; a dated copy is kept.", common=True)
    ] = False,
) -> int:
    """Make the generated samples that pass the gates the data set of the folder.

    data.json and user_requests.json hold what passes; quarantine/ and rejected.json the rest; gates.jsonl and
    funnel.json say why. data_raw.json is unchanged. Exit code 3: no sample passes, or a critic left samples
    without an answer.
    """
    from toolassay.stages.release import release

    released = release(
        data_dir,
        critic=critic,
        model=ModelSettings(options=connected(endpoint)),
        limits=limits,
        force=force,
        engine=engine,
        calibration=calibration,
        command=typed(),
        screen=SCREEN,
    )
    return 0 if released.complete and released.levels["pass"] else 3


@command("pipeline", more=[PASSED])
def pipeline_command(
    data_dir: Annotated[Path, Option("The data folder; created if missing.", common=True)],
    tool_desc: ToolDesc = None,
    dependency_type: DependencyTypeName = None,
    llm: Annotated[
        Sequence[str],
        Option(
            "Model to test; with --values_from or --server: the one that writes.", metavar="LLM", common=True
        ),
    ] = ("offline",),
    generator: Annotated[
        str | None, Option("Model that writes the requests and gold plans [default: offline].", common=True)
    ] = None,
    critic: Critics = (),
    rewrite: _Rewrite = None,
    difficulty: DifficultyName = None,
    samples: SampleSettings = PIPELINE_SAMPLES,
    endpoint: ModelOptions | None = None,
    limits: Limits = Limits(),
    calibration: Calibrations = (),
    live: LiveSettings | None = None,
) -> int:
    """Run every stage from tools to scored models: graph, requests with gold, gates, predictions, scores.

    Plans for tools with schemas are executed in a world, which is written first.

    By default everything runs offline, without a server. To estimate the cost of a served model first, use
    `generate --dry_run` and `infer --dry_run`; this command has no such flag.

    With --server (or --values_from), from a server to a released set: import, values, requests written by
    --llm, executed on copies, judged by --critic, split; CARD.md says what became of the samples.
    """
    options = connected(endpoint)
    if live is not None:
        from toolassay.stages.pipeline import make_set

        if generator is not None or len(llm) != 1:
            raise UsageError("with a server, --llm names the one model that writes", fix="omit --generator")
        for name, given in (("tool_desc", tool_desc), ("dependency_type", dependency_type)):
            if given:
                raise UsageError(
                    f"--{name} is not for --server", fix="toolassay import takes tools of any kind"
                )
        made = make_set(
            data_dir,
            live=replace(live, executor=live.executor or "mcp"),
            llm=llm[0],
            calibration=calibration,
            writing=WritingSettings(critic=critic, rewrite=rewrite, difficulty=difficulty),
            model=replace(GENERATOR, options=options),
            samples=samples,
            limits=limits,
            command=typed(),
            screen=SCREEN,
        )
        return 0 if made.complete else 3
    if calibration:
        raise UsageError("--calibration is for --server", fix="give it to check or release")
    if difficulty:
        raise UsageError("--difficulty is for --server", fix="give it to generate")
    from toolassay.benchmarks.benchmark import load
    from toolassay.benchmarks.registry import default_benchmark
    from toolassay.stages.pipeline import files_of, pipeline

    piped = pipeline(
        data_dir,
        tool_desc=tool_desc,
        dependency_type=dependency_type,
        llm=llm,
        generator=generator or "offline",
        critic=critic,
        rewrite=rewrite,
        options=options,
        samples=samples,
        limits=limits,
        command=typed(),
        screen=SCREEN,
    )
    if not piped.evaluations and not piped.complete:
        return 3
    show("")
    load(default_benchmark().scores.show)(piped.evaluations)
    for what, path in files_of(data_dir, [result.llm for result in piped.evaluations]):
        show(f"{what:<28} {path}")
    if len(piped.evaluations) < len(llm):
        return 1
    return 0 if piped.complete else 3
