"""The records of `data_raw.json`: a sample, what a model wrote for it, and the critics' verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from toolassay.backinstruct.critics import Follow, RuleVerdict, rule_critic
from toolassay.backinstruct.teacher_review import read_review
from toolassay.errors import UsageError, made_by
from toolassay.executors.fact_sources import FactSource
from toolassay.files.data_files import read_json_lines, record_of
from toolassay.records.dataset import PlanLink, RequestId, Sample, form_of
from toolassay.tools.library import ToolLibrary


class WrittenNode(msgspec.Struct, frozen=True):
    """A call of an `Instruction`, by the names that resource, temporal and schema plans use."""

    id: str = ""
    task: str = ""
    input: Any = None
    arguments: Any = None

    def __post_init__(self) -> None:
        if not self.tool:
            raise ValueError("has no id")

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.id or self.task


class WrittenGraph(msgspec.Struct, frozen=True):
    """The plan of an `Instruction`."""

    nodes: Annotated[list[WrittenNode], msgspec.Meta(min_length=1)]
    links: list[PlanLink] | None = None


class Instruction(msgspec.Struct, frozen=True):
    """What a model writes for a sample; arguments may be anything."""

    task_steps: list[str]
    user_request: Annotated[str, msgspec.Meta(pattern=r"\S")]
    invoking_graph: WrittenGraph
    check_by_teacher: Any = None
    facts: list[FactSource] | None = None

    @property
    def links(self) -> list[tuple[str, str]]:
        """The links of the plan as (source, target)."""
        return [(link.source, link.target) for link in self.invoking_graph.links or ()]


class SampledTool(msgspec.Struct, frozen=True, rename={"inputs": "input-type", "outputs": "output-type"}):
    """A tool of a sample; one that works on resources has their types."""

    id: str
    inputs: list[str] | UnsetType = UNSET
    outputs: list[str] | UnsetType = UNSET


class SampledLink(msgspec.Struct, frozen=True):
    """A link of a sample; in a schema graph with its pairs of fields, as in `Sample`."""

    source: str
    target: str
    fields: list[dict[str, str]] | UnsetType = UNSET
    shared: list[dict[str, str]] | UnsetType = UNSET


class RawSample(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `data_raw.json`.

    Attributes:
        id: `sample_id`.
        seed: Seed of the sampler.
        method: Shape of the sample.
        number_of_tools: Number of its tools.
        sampled_nodes: Its tools.
        sampled_links: Its links.
        result: What the model wrote: an `Instruction`, if it is well formed.
        critics: Verdicts of the rule critic on nodes, links and both, and of the LLM critic.
        form: Mark of a work order.
        follow: "seed" if the sample was only an idea, with which a plan is not compared.
        goal: The goal that the model chose then.
        task_kind: Kind of the task, if kinds were drawn.
        manner: In which manner it is said then.
        reviews: What critics answered, by critic.
        executed: Outcome of the execution.
        alternatives: Further right plans, in the form of labels.
        more: Other keys of the line.
    """

    id: RequestId
    seed: int | None = None
    method: str | UnsetType = UNSET
    number_of_tools: int | UnsetType = UNSET
    sampled_nodes: list[SampledTool] = []
    sampled_links: list[SampledLink] = []
    result: dict[str, Any]
    critics: dict[str, Any] | UnsetType = UNSET
    form: str | UnsetType = UNSET
    follow: Follow | UnsetType = UNSET
    goal: str | UnsetType = UNSET
    task_kind: str | UnsetType = UNSET
    manner: str | UnsetType = UNSET
    reviews: dict[str, Any] | UnsetType = UNSET
    executed: str | UnsetType = UNSET
    alternatives: list[dict[str, Any]] | UnsetType = UNSET
    more: dict[str, Any] | UnsetType = UNSET

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        value.update(value.pop("more", {}))
        return value


def read_raw(path: Path, seed: int | None = None) -> Iterator[RawSample]:
    """The lines of a `data_raw.json`.

    Args:
        path: The file.
        seed: The seed that all samples must have; None for any.

    Raises:
        UsageError: The file is missing, or a line is no sample or has another seed (names its number).
    """
    for number, value in read_json_lines(path, fix=made_by("generate")):
        sample = record_of(value, RawSample, file=path, line=number, fix="correct or remove that line")
        if seed not in (None, sample.seed):
            wrong = f"has a sample of seed {sample.seed}, not {seed}"
            fix = "use that seed, another --data_dir, or --force true (keeps a dated copy)"
            raise UsageError(wrong, file=path, line=number, fix=fix)
        more = {key: item for key, item in value.items() if key not in RawSample.__struct_fields__}
        yield replace(sample, more=more or UNSET)


def sample_id(sample: Sample) -> str:
    """The id of a sample, made of its seed and index."""
    return numbered_id(sample.seed, sample.index)


def numbered_id(seed: int, index: int) -> str:
    """The id of sample `index` of a seed.

    >>> numbered_id(7, 12)
    '7-00012'
    """
    return f"{seed}-{index:05d}"


def raw_sample(
    sample: Sample, library: ToolLibrary, result: dict[str, Any], goal: str | None = None
) -> RawSample:
    """The record of a sample, with the critics' verdicts.

    Args:
        sample: The sample.
        library: The tools.
        result: What the model wrote; an `Instruction`, unless there is a goal.
        goal: The model's own goal, if the sample was only an idea.
    """
    rule = RuleVerdict(node=True, link=True)
    if goal is None:
        written = msgspec.convert(result, Instruction)
        sampled = ((link.source, link.target) for link in sample.links)
        tools = (node.tool for node in written.invoking_graph.nodes)
        rule = rule_critic(sample.nodes, sampled, tools, written.links)
    teacher = read_review(result.get("check_by_teacher")).verdict
    return RawSample(
        id=sample_id(sample),
        seed=sample.seed,
        method=sample.shape,
        number_of_tools=len(sample.nodes),
        sampled_nodes=[
            SampledTool(tool.id, *(([*tool.inputs], [*tool.outputs]) if tool.is_resource else ()))
            for tool in map(library.__getitem__, sample.nodes)
        ],
        sampled_links=[
            SampledLink(
                link.source,
                link.target,
                UNSET if fields is None else [pair.to_json() for pair in fields],
                [pair.to_json() for pair in shared or ()] or UNSET,
            )
            for link, fields, shared in zip_longest(sample.links, sample.fields, sample.shared)
        ],
        result=result,
        critics={"node": rule.node, "link": rule.link, "both": rule.both, "llm": teacher},
        form=form_of(result.get("user_request")).get("form", UNSET),
        follow=UNSET if goal is None else "seed",
        goal=UNSET if goal is None else goal,
    )
