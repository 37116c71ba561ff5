"""The card of an export: `README.md` as the Hugging Face hub and its `datasets` library read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from toolassay.dataset import SHAPES, Shape
from toolassay.exporters.card_checks import told_checks
from toolassay.exporters.fields import FIELDS, NOTES, TYPES
from toolassay.exporters.formats import Format
from toolassay.exporters.plan import Plan
from toolassay.words import cell_of

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
class Tally:
    """What has been exported, counted along the way."""

    plans: Counter[tuple[str, Shape, int]] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    without_arguments: int = 0
    levels: Counter[str] = field(default_factory=Counter)

    def add(self, plan: Plan, split: str, level: str) -> None:
        """Count a plan, its split, and the level that the gates gave it."""
        self.plans[split, plan.shape, plan.size] += 1
        self.tools.update(call.tool for call in plan.calls)
        self.without_arguments += not plan.has_arguments
        self.levels[level] += 1

    @property
    def total(self) -> int:
        """How many plans."""
        return self.plans.total()

    def of_split(self, split: str) -> int:
        """How many plans are in a split."""
        return sum(count for kind, count in self.plans.items() if kind[0] == split)


@dataclass(frozen=True)
class CardFacts:
    """What a card tells beyond the numbers.

    Attributes:
        name: of the data set.
        to: the format.
        files: split -> file.
        library_size: how many tools there are.
        benchmark: the object of `benchmark.json`.
        licence: an identifier of the hub, such as "mit".
        splits: how the splits were made, in a line; empty where there are none.
        funnel: what `toolassay check` counted, as it wrote it; None where it did not.
        refused: how many samples could not be exported.
    """

    name: str
    to: Format
    files: Mapping[str, str]
    library_size: int
    benchmark: Mapping[str, Any]
    licence: str
    splits: str = ""
    funnel: Any = None
    refused: int = 0


def card(facts: CardFacts, tally: Tally) -> str:
    """The whole card, as Markdown with its front matter."""
    parts = [*_front_matter(facts, tally), *_body(facts, tally)]
    return "\n".join(parts) + "\n"


def _front_matter(facts: CardFacts, tally: Tally) -> Iterator[str]:
    size = next((name for most, name in _SIZES if tally.total < most), "n>1M")
    matter = {
        "pretty_name": facts.name,
        "language": _languages(facts.benchmark),
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
        "dataset_info": [{"config_name": "default", "features": TYPES[facts.to]}],
    }
    yield "---"
    yield yaml.safe_dump(matter, sort_keys=False, allow_unicode=True).rstrip()
    yield "---\n"


def _languages(benchmark: Mapping[str, Any]) -> list[str]:
    said = benchmark.get("language", "en")
    return [str(one) for one in said] if isinstance(said, list) and said else [str(said or "en")]


def _body(facts: CardFacts, tally: Tally) -> Iterator[str]:
    yield f"# {facts.name}\n"
    yield (
        f"{tally.total:,} user requests with gold plans: which of {facts.library_size:,} tools to call, with "
        "which arguments, and in which order.\n"
    )
    yield "## Sizes\n"
    yield from _sizes(tally, list(facts.files))
    used = len(tally.tools)
    yield f"\n{used:,} of {facts.library_size:,} tools are used; most often:\n"
    yield "| tool | calls |\n| --- | ---: |"
    for tool, count in tally.tools.most_common(10):
        yield f"| {cell_of(tool)} | {count:,} |"
    if tally.without_arguments:
        yield f"\n{tally.without_arguments:,} plans come without arguments: those of their calls are empty."
    yield "\n## How it was made\n"
    yield from _origin(facts)
    yield "\n## Checks\n"
    yield from told_checks(tally.levels, facts.benchmark, facts.funnel, facts.refused)
    yield "\n## Fields\n"
    yield f"{NOTES[facts.to]}\n"
    yield "| field | type | meaning |\n| --- | --- | --- |"
    for name, kind, meaning in FIELDS[facts.to]:
        yield f"| `{name}` | {kind} | {meaning} |"
    yield "\n## Citation\n"
    yield "The method and the form of the plans are those of TaskBench:\n"
    yield f"```bibtex\n{CITATION}\n```"


def _sizes(tally: Tally, splits: Sequence[str]) -> Iterator[str]:
    yield f"| shape | tools | {' | '.join(splits)} | all |"
    yield f"| --- | ---: |{' ---: |' * (len(splits) + 1)}"
    kinds = {(shape, size) for _, shape, size in tally.plans}
    for shape, size in sorted(kinds, key=lambda kind: (SHAPES.index(kind[0]), kind[1])):
        counts = [tally.plans[split, shape, size] for split in splits]
        yield _line(shape, str(size), counts)
    yield _line("all", "", [tally.of_split(split) for split in splits])


def _line(shape: str, size: str, counts: Sequence[int]) -> str:
    cells = [f"{count:,}" for count in (*counts, sum(counts))]
    return f"| {shape} | {size} | {' | '.join(cells)} |"


def _origin(facts: CardFacts) -> Iterator[str]:
    source = facts.benchmark.get("source")
    if isinstance(source, str):
        yield source
    made = facts.benchmark.get("generation")
    if isinstance(made, Mapping):
        yield (
            "\nSubgraphs were sampled from the graph of the tools; for each a model wrote the steps, the "
            "request and the arguments (Back-Instruct)."
        )
        known = [key for key in ("llm", "temperature", "top_p", "seed", "check") if key in made]
        yield "\n" + ", ".join(f"{key}: `{made[key]}`" for key in known)
    if not isinstance(source, str) and not isinstance(made, Mapping):
        yield "It is not recorded who wrote the requests and the plans."
    yield (
        f"\nSplits: `{facts.splits}`" if facts.splits else "\nThere are no splits: all of it is under train."
    )
