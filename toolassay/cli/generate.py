"""`generate`, `format`, `release`, `pipeline`: the commands that make a data set, and all stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.executor_options import NAMES, executor_section, taken_options, without_options
from toolassay.cli.screen import SCREEN, show
from toolassay.errors import UsageError


@click.command("generate")
@options.path("data_dir", "The data folder [default: a new one].")
@options.path("graph_desc", "Tool graph of a new folder.")
@options.path("tool_desc", "Tools of a new folder.")
@options.model(temperature=0.7, top_p=1.0)
@options.max_tokens("2500")
@options.structured(
    "auto",
    "Structured output: the server constrains answers to a JSON schema. auto: if it supports that; true: "
    "the run ends if it does not.",
)
@options.multiworker()
@options.engine
@options.budget()
@options.dry_run
@options.batch
@options.dependency_type
@options.flag("check", "Also request the model's review of its own sample, in the same answer.")
@options.count(
    "number_of_samples",
    "Total number of samples, existing ones included [default: the published 5000; the estimated cost "
    "is shown first].",
)
@options.seed
@options.flag("use_async", "Ignored; kept for the published script. Requests are always concurrent.")
@options.flag("save_figure", "Draw each new sample into task_graphs/.")
@options.choice("method", ["single", "chain", "dag"], "Sample only this shape.")
@options.count("tool_number", "Sample only subgraphs with this many tools.")
@options.sampler_weights
@options.by_score
@options.cover
@options.until
@options.option(
    "rewrite",
    "How often an answer that does not pass the gates goes back to the model with what they found "
    "[default: 3 with --follow seed; 2 for `offline` with tools of your own; else 0].",
    type=click.IntRange(0, 10),
)
@options.choice(
    "follow",
    ["seed", "strict"],
    "seed: the sampled tools are an idea, from which the model plans a goal of its own, or declines; "
    "strict: the plan has exactly the sampled tools and links [default: seed for a served model and imported "
    "tools, else strict].",
)
@options.models("critic", "With --rewrite: model that reviews what the gates let pass")
@options.prompt
@options.path("prompt_template", "Text file with your own prompt template.")
@options.choice(
    "values_from",
    NAMES,
    "Collect real values of arguments from this executor first (values.json), use them in requests, and "
    "execute each plan when it is written; what is refused goes back to the writer (a served model: with "
    "--rewrite N).",
)
@executor_section()
@options.flag("play", "Generate one sample and show the model's answer; writes nothing.")
@options.flag("force", "Start a new run if the settings differ; the old run is kept.")
def generate_command(
    data_dir: Path | None, use_async: bool, play: bool, values_from: str | None, **settings: Any
) -> int:
    """Generate requests with gold plans for sampled subgraphs (Back-Instruct).

    The last line of the output is the data folder. Pass it as --data_dir to continue an interrupted run.
    """
    from toolassay.stages.generate import generate
    from toolassay.stages.generate import play as play_one

    if values_from is None:
        without_options(settings)
    else:
        settings["live"] = live_settings(settings, values_from)
    settings = options.parsed_weights(options.with_budget(options.with_model_options(settings)))
    if play and settings["dry_run"]:
        raise UsageError("--play sends a request, --dry_run sends none", fix="use one of them")
    if play and settings["options"].batch:
        raise UsageError("--play shows the answer to one request", fix="leave --batch out")
    if play and settings["engine"]:
        raise UsageError("--play generates one sample", fix="omit --engine")
    settings["command"] = options.typed()
    if play:
        settings.pop("batch_cancel")
        return 0 if play_one(data_dir, screen=SCREEN, **settings) is not None else 3
    folder, complete = generate(data_dir, screen=SCREEN, **settings)
    if settings["dry_run"]:
        return 0
    show(str(folder))
    return 0 if complete else 3


@click.command("format")
@options.data_dir
@options.dependency_type
@options.flag(
    "force",
    "Replace a data set that this command did not write, or change the dependency type; dated copies are "
    "kept.",
)
def format_command(data_dir: Path, **settings: Any) -> None:
    """Turn generated samples into a data set and show how many the critics pass."""
    from toolassay.stages.release import format_data

    format_data(data_dir, screen=SCREEN, **settings)


@click.command("release")
@options.path("data_dir", "The data folder, with data_raw.json.", required=True)
@options.models("critic", "Model that reviews each sample, as for `check`")
@options.calibration
@options.server
@options.multiworker()
@options.budget("for each critic, earlier starts included")
@options.engine
@options.flag("force", "Replace a data set that was edited; a dated copy is kept.")
def release_command(data_dir: Path, **settings: Any) -> int:
    """Make the generated samples that pass the gates the data set of the folder.

    data.json and user_requests.json hold what passes; quarantine/ and rejected.json the rest; gates.jsonl and
    funnel.json say why. data_raw.json is unchanged. Exit code 3: no sample passes, or a critic left samples
    without an answer.
    """
    from toolassay.stages.release import release

    settings = options.with_budget(options.with_model_options(settings))
    released = release(data_dir, command=options.typed(), screen=SCREEN, **settings)
    return 0 if released.complete and released.levels["pass"] else 3


@click.command("pipeline")
@options.path("data_dir", "The data folder; created if missing.", required=True)
@options.path("tool_desc", "Tool file [default: DATA_DIR/tool_desc.json].")
@options.dependency_type
@options.models(
    "llm", "Model to test; with --values_from or --server: the one that writes", default=("offline",)
)
@options.option("generator", "Model that writes the requests and gold plans.")
@options.models("critic", "Model that reviews each sample besides the gates; 'offline' needs no server")
@options.option(
    "rewrite",
    "How often a sample that does not pass the gates goes back to the generator with what they found "
    "[default: 2; with --server as for `generate`].",
    type=click.IntRange(0, 10),
)
@options.server
@options.count("number_of_samples", "Number of requests [default: 300, or as --cover and --until say].")
@options.cover
@options.until
@options.option("seed", "Random seed.", type=click.IntRange(0), default=0)
@options.by_score
@options.multiworker()
@options.budget("for each run: the generation, and the inference of each model")
@options.calibration
@options.choice(
    "values_from",
    NAMES,
    "Make a set with a server instead: collect values, write with --llm, execute, judge with --critic, "
    "until --number_of_samples pass [default: mcp with --server or --mcp_config].",
)
@executor_section()
def pipeline_command(
    data_dir: Path, llm: tuple[str, ...], generator: str | None, values_from: str | None, **settings: Any
) -> int:
    """Run every stage from tools to scored models: graph, requests with gold, gates, predictions, scores.

    By default everything runs offline, without a server. To estimate the cost of a served model first, use
    `generate --dry_run` and `infer --dry_run`; this command has no such flag.

    With --server (or --values_from), from a server to a released set: import, values, requests written by
    --llm, executed on copies, judged by --critic, split; CARD.md says what became of the samples.
    """
    if values_from or settings["server"] or settings["mcp_config"]:
        from toolassay.stages.pipeline import make_set

        if generator is not None or len(llm) != 1:
            raise UsageError("with a server, --llm names the one model that writes", fix="omit --generator")
        for name in ("tool_desc", "dependency_type"):
            if settings.pop(name):
                raise UsageError(
                    f"--{name} is not for --server", fix="toolassay import takes tools of any kind"
                )
        live = live_settings(settings, values_from or "mcp")
        settings = options.with_budget(options.with_model_options(settings))
        made = make_set(data_dir, live=live, llm=llm[0], command=options.typed(), screen=SCREEN, **settings)
        return 0 if made.complete else 3
    without_options(settings)
    if settings.pop("calibration"):
        raise UsageError("--calibration is for --server", fix="give it to check or release")
    settings["generator"] = generator or "offline"
    from toolassay.benchmarks.benchmark import load
    from toolassay.benchmarks.registry import default_benchmark
    from toolassay.stages.pipeline import files_of, pipeline

    settings = options.with_budget(options.with_model_options(settings))
    piped = pipeline(data_dir, llm=llm, command=options.typed(), screen=SCREEN, **settings)
    if not piped.evaluations and not piped.complete:
        return 3
    show("")
    load(default_benchmark().scores.show)(piped.evaluations)
    for what, path in files_of(data_dir, [result.llm for result in piped.evaluations]):
        show(f"{what:<28} {path}")
    if len(piped.evaluations) < len(llm):
        return 1
    return 0 if piped.complete else 3


def live_settings(settings: dict[str, Any], executor: str) -> Any:
    """Take what concerns an executor out of `settings`, as a `LiveSettings`."""
    from toolassay.stages.live_values import LiveSettings

    consent = {name: settings.pop(name) for name in ("allow_writes", "allow_tools")}
    return LiveSettings(executor, taken_options(settings, executor), **consent)
