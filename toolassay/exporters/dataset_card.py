"""The dataset card of an export: a `README.md` for the Hugging Face hub and its `datasets` library.

It has the sizes, how the data were made, the checks by gates and reviewers, and the fields of the format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import yaml

from toolassay.console.tables import Table, markdown_escaped
from toolassay.console.text_formatting import count_of
from toolassay.errors import as_called
from toolassay.exporters.executed_results import Marking, PlanResults
from toolassay.exporters.export_format import ExportFormat, ResultForm, columns
from toolassay.exporters.sample_selection import NOT_CHECKED
from toolassay.files.data_files import read_json, record_of
from toolassay.plans.call_plan import CallPlan
from toolassay.records.data_folder import BY_RULES, BenchmarkFile, FunnelRow
from toolassay.records.dataset import SHAPES, Shape

_STATES = ("pass", "quarantine", "reject", "unknown", "not applicable")
DECISION_NAMES = {
    "correct": "correct",
    "fix_syntax": "fixed for syntax",
    "fix_instruction": "fixed for instruction",
    "fix_graph": "fixed for tool invocation graph",
    "discard": "discarded",
    "undecided": "undecided",
}
"""The decisions of reviewers, for people."""


class Funnel(msgspec.Struct, frozen=True):
    """What `funnel.json` says of a check; other keys are for readers of the file.

    Attributes:
        input: Number of checked samples.
        levels: Number of samples by level.
        gates: Number of samples by gate and state.
        funnel: For each gate in order, what enters, leaves, is rejected and quarantined there.
        signature: The settings, in one line.
        critics: How far each critic that judged the set agrees with labels, in one sentence.
    """

    input: int
    levels: dict[str, int]
    gates: dict[str, dict[str, int]]
    funnel: list[FunnelRow]
    signature: str
    critics: dict[str, str] = {}


def read_funnel(path: Path) -> Funnel | None:
    """The funnel of a check; None without the file.

    Raises:
        UsageError: The file is malformed.
    """
    fix = f"run {as_called('check')} again, or remove the file"
    return record_of(read_json(path), Funnel, file=path, fix=fix) if path.exists() else None


# Upper limits of the hub's size categories.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass
class ExportTally:
    """Counts of the exported plans.

    Attributes:
        plans: by split, shape and number of calls.
        tools: calls by tool.
        without_arguments: plans whose label has no arguments.
        levels: by level of the gates.
        results: plans with results, by their marking and their executor.
        recoveries: plans with a refused call.
    """

    plans: Counter[tuple[str, Shape, int]] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    without_arguments: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    results: Counter[tuple[Marking, str]] = field(default_factory=Counter)
    recoveries: int = 0

    def add(self, plan: CallPlan, split: str, level: str, results: PlanResults | None = None) -> None:
        """Count a plan with its split, its level of the gates, and its results as they were written."""
        self.plans[split, plan.shape, plan.size] += 1
        self.tools.update(call.tool for call in plan.calls)
        self.without_arguments += not plan.has_arguments
        self.levels[level] += 1
        if results is not None:
            self.results[results.marking, results.executor] += 1
            self.recoveries += results.refused is not None

    @property
    def total(self) -> int:
        """The number of plans."""
        return self.plans.total()

    def of_split(self, split: str) -> int:
        """The number of plans in a split."""
        return sum(count for kind, count in self.plans.items() if kind[0] == split)


@dataclass(frozen=True)
class CardFacts:
    """The facts of a card besides the counts.

    Attributes:
        name: the name of the data set.
        to: the format of the export.
        files: the file of each split.
        library_size: the number of tools in the library.
        benchmark: `benchmark.json`.
        licence: an identifier of the hub, such as "mit".
        splits: the signature of the splits; empty without splits.
        funnel: the funnel of the check; None without one.
        refused: how many samples could not be exported.
        form: the form of the results.
    """

    name: str
    to: ExportFormat
    files: Mapping[str, str]
    library_size: int
    benchmark: BenchmarkFile
    licence: str
    splits: str = ""
    funnel: Funnel | None = None
    refused: int = 0
    form: ResultForm = "references"


def card(facts: CardFacts, tally: ExportTally) -> str:
    """The card: YAML front matter and Markdown."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    benchmark = facts.benchmark
    gates = facts.funnel.gates if facts.funnel else {}
    environment = Environment(
        loader=PackageLoader(__package__, ""),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "cell": partial(markdown_escaped, keep_markup=True),
        "count": lambda number, noun="": count_of(number, noun) if noun else f"{number:,}",
        "escaped": markdown_escaped,
    }
    levels = sorted(tally.levels.items())
    results = [(*kind, n) for kind, n in sorted(tally.results.items())]
    fields = [(f"`{name}`", kind, meaning) for name, kind, meaning in facts.to.fields]
    states = [[gate, *(f"{counts[state]:,}" for state in _STATES)] for gate, counts in gates.items()]
    text: str = environment.get_template("dataset_card.txt").render(
        facts=facts,
        tally=tally,
        benchmark=benchmark,
        by_rules=BY_RULES,
        made=benchmark.generation,
        reviewed=None if benchmark.reviewed is None else list(benchmark.reviewed.items()),
        decisions=DECISION_NAMES,
        matter=_front_matter(facts, tally),
        sizes=_sizes(tally, list(facts.files)),
        tools=Table(("tool", "calls"), tally.tools.most_common(10)).markdown(),
        results=Table(("results", "executor", "samples"), results, "lnr").markdown() if results else "",
        levels=Table(("level by the gates", "samples here"), levels).markdown()
        if set(tally.levels) - {NOT_CHECKED}
        else "",
        gates=Table(("gate", *_STATES), states).markdown(),
        fields=Table(("field", "type", "meaning"), fields, "lll").markdown(),
    )
    return text


TRAJECTORIES = "trajectories"
"""The format of an agent's conversations, and the name of their file."""


def trajectory_card(name: str, llm: str) -> str:
    """The card of an agent's conversations: front matter and fields.

    Args:
        name: Name of the data set.
        llm: Name of the model.
    """
    fields = [(f"`{column}`", kind, meaning) for column, kind, meaning in columns("fields", TRAJECTORIES)]
    matter = {
        "pretty_name": name,
        **_loading({"train": f"{TRAJECTORIES}.jsonl"}, columns("types", TRAJECTORIES)),
    }
    table = Table(("field", "type", "meaning"), fields, "lll").markdown()
    summary = f"Conversations of {markdown_escaped(llm)}, one per line."
    return f"---\n{_yaml(matter)}\n---\n\n# {markdown_escaped(name)}\n\n{summary}\n\n{table}\n"


def _loading(files: Mapping[str, str], types: Sequence[Any]) -> dict[str, Any]:
    """What `datasets` needs: the file of each split, and the types of the columns if they are known."""
    splits = [{"split": split, "path": path} for split, path in files.items()]
    configs = {"configs": [{"config_name": "default", "data_files": splits}]}
    if not types:
        return configs
    return configs | {"dataset_info": [{"config_name": "default", "features": types}]}


def _front_matter(facts: CardFacts, tally: ExportTally) -> str:
    language = facts.benchmark.language
    matter = {
        "pretty_name": facts.name,
        "language": [language] if isinstance(language, str) else language,
        "license": facts.licence,
        "size_categories": [next((name for most, name in _SIZES if tally.total < most), "n>1M")],
        "task_categories": ["text-generation"],
        "tags": ["tool-use", "function-calling", "planning", "task-automation", "synthetic"],
        **_loading(facts.files, facts.to.types),
    }
    return _yaml(matter)


def _yaml(matter: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(dict(matter), sort_keys=False, allow_unicode=True)
    return text.rstrip()


def _sizes(tally: ExportTally, splits: Sequence[str]) -> str:
    rows: list[tuple[str | int, ...]] = []
    kinds = {(shape, size) for _, shape, size in tally.plans}
    for shape, size in sorted(kinds, key=lambda kind: (SHAPES.index(kind[0]), kind[1])):
        counts = [tally.plans[split, shape, size] for split in splits]
        rows.append((shape, str(size), *counts, sum(counts)))
    counts = [tally.of_split(split) for split in splits]
    rows.append(("all", "", *counts, sum(counts)))
    return Table(("shape", "tools", *splits, "all"), rows).markdown()
