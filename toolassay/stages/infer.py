"""The infer stage: the items of a data folder and a model -> predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.registry import benchmark_of, benchmarks, own_options
from toolassay.benchmarks.security import probe
from toolassay.benchmarks.security.probe import refuse_beside_security
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.requests import read_ids
from toolassay.runs.run import Run, run_trials
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings, gather
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference
from toolassay.screen import DEFAULT, Screen

Security = bool | int | str
"""False: no probes; True: the usual number; a number of attacks; or a mode of the benchmark."""


def infer(
    data_dir: str | Path = "data_huggingface",
    *,
    model: ModelSettings | None = None,
    limits: Limits | None = None,
    choices: RunChoices | None = None,
    own: Any = None,
    security: Security = False,
    judge: str | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> Inference:
    """Ask a model about every item of a data folder; what is answered already is not asked again.

    Args:
        data_dir: the data folder, of any benchmark.
        model: which model answers, and how it samples.
        limits: what the run may use, all trials together.
        choices: which items are asked, how often, and where the run is kept.
        own: options of the folder's benchmark, an instance of its `options`.
        security: send probes instead of the items, to see whether the agent acts on text that is data; a run
            of its own. A text is a mode of the benchmark.
        judge: with `security`, a model on the same server that is asked whether the agent complied.
        command: what was typed, for the manifest.
        screen: where notices, results and progress go.
        keywords: fields of the four options objects, instead of or beside them.

    Raises:
        UsageError: files missing or malformed, settings that contradict the run, or options of another
            benchmark.
        TypeError: an unknown keyword.
        ToolassayError: the model cannot be reached.
    """
    folder = DataFolder(Path(data_dir)).require()
    model = gather(model or ModelSettings(), keywords)
    choices = gather(choices or RunChoices(), keywords)
    run = RunSettings(model, gather(limits or Limits(), keywords), choices, command, screen)
    benchmark = benchmark_of(folder)
    own = own_options("infer", benchmark, own, keywords)
    model.check()
    if isinstance(choices.ids, Path):
        run = replace(run, choices=replace(choices, ids=read_ids(choices.ids)))
    if security:
        return _probe(folder, run, own, security, judge)
    if judge:
        raise UsageError("--judge judges probes", fix="add --security true, or leave it out")
    place = folder.path / benchmark.place(run, own)

    def one(number: int) -> Inference:
        work = benchmark.work(folder, run, own, number)
        return Run(work, Trial(place, model.llm, number), run).carry_out()

    return run_trials(one, choices.trials, screen)


def _probe(
    folder: DataFolder, run: RunSettings, own: Any, security: Security, judge: str | None
) -> Inference:
    """Send the probes of a folder; the run is in `security/` of the prediction folder, a line each."""
    choices, benchmark = run.choices, benchmark_of(folder)
    refuse_beside_security(
        limit=choices.limit,
        ids=choices.ids,
        dry_run=choices.dry_run,
        trials=choices.trials > 1,
        retry_malformed=choices.retry_malformed,
    )
    if isinstance(security, str):
        if security not in benchmark.security_modes:
            having = [one.title for one in benchmarks() if security in one.security_modes]
            raise UsageError(
                f"--security {security} is for a folder of {' or '.join(having) or 'another benchmark'}",
                fix="write --security true",
            )
        return benchmark.probe_in_mode(security, folder, run, own, judge)
    if security < 0:
        raise UsageError(f"--security {security}", fix="give the number of attacks, or true")
    prober = benchmark.prober(folder, run, own, None if security is True else int(security))
    return probe(run, prober, folder.path / benchmark.place(run, own), judge)
