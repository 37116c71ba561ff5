"""How many of the generated samples of a folder would pass the gates, without writing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from toolassay.backinstruct.labels import Labeller
from toolassay.data_folder import DataFolder
from toolassay.engines import OneProcess
from toolassay.files import read_json_lines, write_json_lines
from toolassay.gates.coverage import Coverage
from toolassay.gates.duplicate_gates import DuplicateGate
from toolassay.gates.gate import Background
from toolassay.gates.gate_pipeline import GateFunnel, GateRecipe, SampleContext, gate_pipeline
from toolassay.gates.labelled_set import LabelledSet
from toolassay.graph import ToolGraph
from toolassay.locks import temporary_folder
from toolassay.stages.sort_set import CheckTask, checked_parts
from toolassay.variety.near_duplicates import Thresholds

NO_PLAN = "format"
"""What holds back a sample whose plan cannot be read."""


@dataclass(frozen=True)
class Passing:
    """What the gates find in the generated samples of a folder.

    Attributes:
        samples: Number of samples.
        passed: Number of those that pass all gates that need no model.
        held: Number of the others, by the first gate that holds them back.
        coverage: Samples per tool and edge.
    """

    samples: int
    passed: int
    held: Mapping[str, int]
    coverage: Coverage

    @property
    def worst(self) -> str:
        """The gate that holds back most, as part of a sentence; empty if none does."""
        if not self.held:
            return ""
        gate, count = Counter(self.held).most_common(1)[0]
        return f"the gate '{gate}' holds back {count:,} of {self.samples:,}"


def passing(folder: DataFolder, graph: ToolGraph, left_out: Mapping[str, str]) -> Passing:
    """Run the generated samples of a folder through the gates that need no model.

    Args:
        folder: Data folder with `data_raw.json`.
        graph: Its tool graph.
        left_out: Tools that are not sampled, and why.
    """
    held: Counter[str] = Counter()
    labeller = Labeller(graph.library, graph.dependency_type)
    labels = []
    samples = 0
    for _, record in read_json_lines(folder.data_raw):
        samples += 1
        label, _ = labeller.label(record)
        if label is None:
            held[NO_PLAN] += 1
        else:
            labels.append(label)
    coverage = Coverage(graph, left_out)
    if not labels:
        return Passing(samples, 0, held, coverage)
    background = Background(graph.library, graph.dependency_type, graph)
    with temporary_folder() as place:
        path = place / folder.data.name
        write_json_lines(path, labels)
        labelled = LabelledSet(path)
        known = SampleContext(labelled.repeated, whole_set=[DuplicateGate(labelled, Thresholds())])
        recipe = GateRecipe(background, tuple(gate.name for gate in gate_pipeline(background, known)))
        funnel = GateFunnel(recipe.names)
        task = CheckTask(labelled.reader, recipe, writes=False, tries_repair=False)
        for part in checked_parts(labelled, known, task, OneProcess()):
            funnel.extend(part.funnel)
            coverage.extend(part.coverage)
    for row in funnel.rows:
        if row.reject or row.quarantine:
            held[row.gate] += row.reject + row.quarantine
    return Passing(samples, funnel.levels["pass"], held, coverage)
