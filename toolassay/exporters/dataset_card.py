"""The dataset card of an export: a `README.md` for the Hugging Face hub and its `datasets` library.

It has the sizes, how the data were made, the checks by gates and reviewers, and the fields of the format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import yaml

from toolassay.calls.call_plan import CallPlan
from toolassay.data_folder import BY_RULES, BenchmarkFile, FunnelRow
from toolassay.dataset import SHAPES, Shape
from toolassay.exporters.executed_results import Marking, PlanResults
from toolassay.exporters.formats import CHAT_FORMATS, Format, ResultForm, columns
from toolassay.exporters.sample_selection import NOT_CHECKED
from toolassay.files import read_json, record_of
from toolassay.tables import Table, markdown_escaped
from toolassay.text_formatting import count_of

_STATES = ("pass", "quarantine", "reject", "unknown", "not applicable")
_DECISIONS = {
    "correct": "correct",
    "fix_syntax": "fixed for syntax",
    "fix_instruction": "fixed for instruction",
    "fix_graph": "fixed for tool invocation graph",
    "discard": "discarded",
    "undecided": "undecided",
}


class Funnel(msgspec.Struct, frozen=True):
    """What `funnel.json` says of a check; other keys are for readers of the file.

    Attributes:
        input: Number of checked samples.
        levels: Number of samples by level.
        gates: Number of samples by gate and state.
        funnel: For each gate in order, what enters, leaves, is rejected and quarantined there.
        signature: The settings, in one line.
        critics: How far each critic that judged the set agrees with people, in one sentence.
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
    fix = "run toolassay check again, or remove the file"
    return record_of(read_json(path), Funnel, file=path, fix=fix) if path.exists() else None


def check_lines(
    levels: Mapping[str, int],
    benchmark: BenchmarkFile,
    funnel: Funnel | None,
    refused: int,
    form: ResultForm = "references",
) -> Iterator[str]:
    """The section on checks, as lines of Markdown.

    Args:
        levels: the number of exported samples at each level of the gates, from `gates.jsonl`.
        benchmark: `benchmark.json`, in which `toolassay check` and `toolassay review` record
            what they accepted.
        funnel: the funnel of the check; None without one.
        refused: how many samples could not be exported.
        form: the form of the results.
    """
    level = None if benchmark.checked is None else benchmark.checked.level
    reviewed = benchmark.reviewed
    if set(levels) - {NOT_CHECKED}:
        yield Table(("level by the gates", "samples here"), sorted(levels.items())).markdown()
    elif level is not None:
        before = "" if reviewed is None else ", before people reviewed them"
        shown = markdown_escaped(level, keep_markup=True)
        yield f"`toolassay check` gave these samples the level `{shown}`{before}."
    else:
        yield "No gates were recorded (`toolassay check`)."
    if reviewed is not None:
        decisions = ", ".join(
            f"{count:,} {_DECISIONS.get(kind, markdown_escaped(kind, keep_markup=True))}"
            for kind, count in reviewed.items()
            if count
        )
        yield f"\nReviewed by people (`toolassay review`): {decisions or 'no decisions yet'}."
    if refused:
        why = "give no valid calls" + (", or have no results" if form == "executed" else "")
        yield f"\n{count_of(refused, 'sample')} refused: their plans {why} (`refused.jsonl`)."
    if funnel is None:
        return
    whole, levels = count_of(funnel.input, "sample"), funnel.levels
    of = "Of" if reviewed is None else "Before the review: of"
    yield (
        f"\n{of} the whole set of {whole} the gates passed "
        f"{levels['pass']:,}, quarantined {levels['quarantine']:,} and rejected {levels['reject']:,}:\n"
    )
    rows = [[gate, *(f"{states[state]:,}" for state in _STATES)] for gate, states in funnel.gates.items()]
    yield Table(("gate", *_STATES), rows).markdown()
    yield "\nNot applicable: the gate had nothing to judge, such as arguments or a review; that is no pass."
    for line in funnel.critics.values():
        yield f"\n{markdown_escaped(line)}."
    yield f"\n`{funnel.signature}`"


_RESULTS: Mapping[ResultForm, str] = {
    "references": "The result of call j, from 0, is written as `<node-j>`; later arguments refer to it so.",
    "executed": "A tool message has the text that the tool returned; arguments have the executed values.",
    "none": "All calls are in one message, without results; `<node-j>` is the result of call j, from 0.",
}
_BESIDE = "`names.json` has the tool of each function; line n of `index/` has the id and the links of line n."


def _note(to: Format, form: ResultForm) -> str:
    if to not in CHAT_FORMATS:
        return "One row per sample." if to == "hf" else "One object per line."
    more = " `dataset_info.json` is for LLaMA-Factory." if to == "sharegpt" else ""
    return f"One chat per line. {_RESULTS[form]} {_BESIDE}{more}"


# Upper limits of the hub's size categories.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
CITATION = """\
@inproceedings{shen2024taskbench,
  title     = {TaskBench: Benchmarking Large Language Models for Task Automation},
  author    = {Shen, Yongliang and Song, Kaitao and Tan, Xu and Zhang, Wenqi and Ren, Kan and Yuan, Siyu and
               Lu, Weiming and Li, Dongsheng and Zhuang, Yueting},
  booktitle = {Advances in Neural Information Processing Systems, Datasets and Benchmarks Track},
  year      = {2024},
}"""


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
    to: Format
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
    parts = [*_front_matter(facts, tally), *_body(facts, tally)]
    return "\n".join(parts) + "\n"


def _front_matter(facts: CardFacts, tally: ExportTally) -> Iterator[str]:
    size = next((name for most, name in _SIZES if tally.total < most), "n>1M")
    language = facts.benchmark.language
    matter = {
        "pretty_name": facts.name,
        "language": [language] if isinstance(language, str) else language,
        "license": facts.licence,
        "size_categories": [size],
        "task_categories": ["text-generation"],
        "tags": ["tool-use", "function-calling", "planning", "task-automation", "synthetic"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split, "path": path} for split, path in facts.files.items()],
            }
        ],
        "dataset_info": [{"config_name": "default", "features": columns("types", facts.to)}],
    }
    yield "---"
    yield yaml.safe_dump(matter, sort_keys=False, allow_unicode=True).rstrip()
    yield "---\n"


def _body(facts: CardFacts, tally: ExportTally) -> Iterator[str]:
    yield f"# {facts.name}\n"
    if facts.benchmark.is_by_rules:
        yield f"> **Warning: {BY_RULES}.**\n"
    yield (
        f"{tally.total:,} user requests with gold plans: which of {facts.library_size:,} tools to call, with "
        "which arguments, and in which order.\n"
    )
    yield "## Sizes\n"
    yield _sizes(tally, list(facts.files))
    used = len(tally.tools)
    yield f"\n{used:,} of {facts.library_size:,} tools are used; most often:\n"
    yield Table(("tool", "calls"), tally.tools.most_common(10)).markdown()
    if tally.without_arguments:
        yield f"\n{tally.without_arguments:,} plans have no arguments: those of their calls are empty."
    yield "\n## How it was made\n"
    yield from _origin(facts)
    yield from _result_lines(tally)
    yield "\n## Checks\n"
    yield from check_lines(tally.levels, facts.benchmark, facts.funnel, facts.refused, facts.form)
    yield "\n## Fields\n"
    yield f"{_note(facts.to, facts.form)}\n"
    fields = [(f"`{name}`", kind, meaning) for name, kind, meaning in columns("fields", facts.to)]
    yield Table(("field", "type", "meaning"), fields, align="lll").markdown()
    yield "\n## Citation\n"
    yield "The method and the format of the plans come from TaskBench:\n"
    yield f"```bibtex\n{CITATION}\n```"


def _sizes(tally: ExportTally, splits: Sequence[str]) -> str:
    rows: list[tuple[str | int, ...]] = []
    kinds = {(shape, size) for _, shape, size in tally.plans}
    for shape, size in sorted(kinds, key=lambda kind: (SHAPES.index(kind[0]), kind[1])):
        counts = [tally.plans[split, shape, size] for split in splits]
        rows.append((shape, str(size), *counts, sum(counts)))
    counts = [tally.of_split(split) for split in splits]
    rows.append(("all", "", *counts, sum(counts)))
    return Table(("shape", "tools", *splits, "all"), rows).markdown()


def _origin(facts: CardFacts) -> Iterator[str]:
    source, made = facts.benchmark.source, facts.benchmark.generation
    if source is not None:
        yield source
    if made is not None:
        yield (
            "\nSubgraphs were sampled from the graph of the tools; for each a model wrote the steps, the "
            "request and the arguments (Back-Instruct)."
        )
        known = [key for key in ("llm", "temperature", "top_p", "seed", "check") if key in made]
        yield "\n" + ", ".join(f"{key}: `{made[key]}`" for key in known)
    if source is None and made is None:
        yield "The origin of the requests and plans is not recorded."
    yield (
        f"\nSplits: `{facts.splits}`" if facts.splits else "\nThere are no splits: all samples are in train."
    )


def _result_lines(tally: ExportTally) -> Iterator[str]:
    if tally.results:
        yield "\nTool results (`toolassay execute`):\n"
        rows = [(*kind, count) for kind, count in sorted(tally.results.items())]
        yield Table(("results", "executor", "samples"), rows, align="lnr").markdown()
        yield "\nExecuted: the tools returned them. Simulated: no tool was called."
    if tally.recoveries:
        yield (
            f"\n{count_of(tally.recoveries, 'chat')} with a wrong call, the tool's error, and then the right "
            'call: `"recovery": true` in `index/`.'
        )
