"""The stage of `critic --calibrate`: a critic answers the rubric on labelled samples."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from toolassay.benchmarks.work_folder import graph_of
from toolassay.console.screen import DEFAULT, Screen
from toolassay.files.data_files import sha256_of, write_json
from toolassay.gates.calibration import LABELLED_BY, Calibration, Pair, agreement, answers_of
from toolassay.gates.critic import template
from toolassay.gates.gate import Background
from toolassay.gates.labelled_set import LabelledSet, Selected
from toolassay.records.data_folder import DataFolder
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.stages.check import ask_critic, read_evidence

FILE = "calibration.json"


def calibrate(
    labels: str | Path,
    *,
    critic: str,
    data_dir: str | Path | None = None,
    out: str | Path,
    model: ModelSettings = ModelSettings(),
    limits: Limits = Limits(),
    force: bool = False,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> tuple[Calibration, bool]:
    """Compare a critic with labels.

    Args:
        labels: JSON lines: samples as in `data.json`, with the answers natural, grounded, plan, links and
            values, each true or false (or 1 or 0), and `labelled_by`, who answered.
        critic: The model.
        data_dir: Folder of the tools; default: that of `labels`.
        out: Output folder for `calibration.json` and the critic's run.
        model: Endpoint.
        limits: Limits of the run, earlier starts included.
        force: Start again where the run had other settings.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.

    Returns:
        The calibration, and whether the critic answered every request.

    Raises:
        UsageError: A file is missing or malformed, or an answer is missing.
        ToolassayError: The model cannot be reached.
    """
    labels = Path(labels)
    out = Path(out)
    folder = DataFolder(labels.parent if data_dir is None else Path(data_dir)).require()
    graph = graph_of(folder, None, say=screen.say)
    judged = LabelledSet.read(labels)
    labelled = {gold.line: answers_of(gold.record, f"{labels}:{gold.line}") for gold in judged}
    run = RunSettings(replace(model, llm=critic), limits, RunChoices(force=force), command, screen)
    verdicts, complete = ask_critic(
        Selected(judged, frozenset(labelled)),
        Background(graph.library, graph.dependency_type, graph),
        read_evidence(folder),
        out=out,
        data=labels,
        run=run,
    )
    pairs = [
        Pair(labelled[line], answers_of(verdict.rubric.answers, critic))
        for line, verdict in verdicts.items()
        if verdict.rubric is not None
    ]
    calibration = Calibration(
        critic,
        labels.name,
        sha256_of(labels),
        hashlib.sha256(template().encode()).hexdigest(),
        len(labelled),
        len(labelled) - len(pairs),
        agreement(pairs),
        tuple(sorted({str(by) for gold in judged if (by := gold.record.get(LABELLED_BY))})),
    )
    write_json(out / FILE, msgspec.to_builtins(calibration))
    screen.table(calibration.table().markdown())
    screen.show(f"{out / FILE}: {calibration.line}")
    return calibration, complete
