"""The two critics of generated samples, and `alignment_ids.json`.

The rule critic checks that the nodes and links of a plan are those of the sample (Shen et al.,
2024, section 3.2).
The LLM critic is the teacher model's review, parsed from its text; a review that cannot be parsed is
"unknown", never a pass or fail. `Alignment` collects the samples that each critic passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from toolassay.backinstruct.teacher_review import TeacherVerdict, read_review
from toolassay.plans.gold import Gold
from toolassay.records.dataset import SHAPES, RequestId, Shape

FOLLOW = "follow"
"""Key of a record and of a label: "seed" if the plan was only inspired by the sampled tools."""
Follow = Literal["seed", "strict"]


class RuleVerdict(NamedTuple):
    """Whether the nodes and the links of a plan are those of its sample."""

    node: bool
    link: bool

    @property
    def both(self) -> bool:
        """Whether both nodes and links match."""
        return self.node and self.link


class Verdicts(NamedTuple):
    """The verdicts of both critics on one plan."""

    rule: RuleVerdict
    teacher: TeacherVerdict


def rule_critic(
    sampled_nodes: Iterable[str],
    sampled_links: Iterable[tuple[str, str]],
    nodes: Iterable[str],
    links: Iterable[tuple[str, str]],
) -> RuleVerdict:
    """Compare a plan with its sample: the same multiset of tools, the same set of links.

    Names match exactly, or else the only sampled name that is equal under `same_tool`.

    >>> rule_critic(["a b"], [], ["a_b"], [])
    RuleVerdict(node=True, link=True)
    >>> rule_critic(["a b", "a_b"], [], ["a b", "a b"], [])
    RuleVerdict(node=False, link=True)
    """
    sampled_nodes = list(sampled_nodes)
    sampled_links = set(sampled_links)
    spellings = Spellings([*sampled_nodes, *(name for link in sampled_links for name in link)])
    return RuleVerdict(
        Counter(sampled_nodes) == Counter(map(spellings.read, nodes)),
        sampled_links == {(spellings.read(source), spellings.read(target)) for source, target in links},
    )


@lru_cache(maxsize=65_536)
def same_tool(name: str) -> str:
    """Normalise case, underscores and blanks of a tool name.

    >>> same_tool(" Text_Search") == same_tool("text search")
    True
    """
    return " ".join(name.replace("_", " ").casefold().split())


class Spellings:
    """Resolves spellings of names: an exact match, else the only name that is equal under `same_tool`.

    >>> names = Spellings(["Text Search", "a b", "a_b"])
    >>> names.meant("text_search"), names.meant("A B"), names.read("A B")
    ('Text Search', None, 'A B')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = set(names)
        spellings = Counter(map(same_tool, self._exact))
        self._only = {name: tool for tool in self._exact if spellings[name := same_tool(tool)] == 1}

    def meant(self, name: str) -> str | None:
        """The name that a text means; None if there is none or more than one."""
        return name if name in self._exact else self._only.get(same_tool(name))

    def read(self, name: str) -> str:
        """The name that a text means, else the text itself."""
        return self.meant(name) or name


EXECUTED = "executed"
"""Key of records and labels with the outcome of the plan when it was written: ran, failed, simulated, …"""
REVIEWS = "reviews"
"""Key of records and labels with what critics answered when the sample was written, by critic."""
JUDGED_BY = "judged_by"
"""Key of released labels with the names of the models that judged the sample."""
_CRITIC_NAMES = {
    "node": "rule critic: nodes",
    "link": "rule critic: links",
    "both_node_link": "rule critic: nodes and links",
    "self-check": "LLM critic",
    "all": "both critics",
}
MODES = tuple(_CRITIC_NAMES)


@dataclass
class Alignment:
    """Collects the verdicts on all labels.

    Attributes:
        ids: The object of `alignment_ids.json`: `{mode}_alignment_id` -> shape -> ids.
        labels: Number of labels by shape.
        teacher: Number of labels by verdict of the LLM critic.
        nodes: Total number of nodes.
        links: Total number of links.
    """

    ids: dict[str, dict[str, list[RequestId]]] = field(
        default_factory=lambda: {f"{mode}_alignment_id": {shape: [] for shape in SHAPES} for mode in MODES}
    )
    labels: Counter[str] = field(default_factory=Counter)
    teacher: Counter[TeacherVerdict] = field(default_factory=Counter)
    nodes: int = 0
    links: int = 0

    def add(self, gold: Gold, shape: Shape, verdicts: Verdicts) -> None:
        """Add one label with its shape and its verdicts."""
        self.labels[shape] += 1
        self.teacher[verdicts.teacher] += 1
        self.nodes += len(gold.nodes)
        self.links += len(gold.links)
        for mode, passed in passes(verdicts).items():
            if passed:
                self.ids[f"{mode}_alignment_id"][shape].append(gold.id)

    def by_shape(self) -> Iterable[tuple[str, list[int]]]:
        """Yield rows (critic, [single, chain, dag, overall]): all samples, then those a critic passes."""
        counts = [self.labels[shape] for shape in SHAPES]
        yield "all samples", [*counts, sum(counts)]
        for mode in MODES:
            counts = [len(self.ids[f"{mode}_alignment_id"][shape]) for shape in SHAPES]
            yield _CRITIC_NAMES[mode], [*counts, sum(counts)]


def verdicts_of(gold: Gold) -> Verdicts:
    """The verdicts of both critics on a label that has the sampled graph."""
    nodes = (node.tool for node in gold.nodes)
    rule = rule_critic(gold.sampled_nodes or (), gold.sampled_links or (), nodes, gold.links)
    return Verdicts(rule, read_review(gold.record.get("check_by_teacher")).verdict)


def passes(verdicts: Verdicts) -> dict[str, bool]:
    """Whether a sample passes, by mode; an unknown verdict of the LLM critic does not pass."""
    rule = verdicts.rule
    approved = verdicts.teacher == "pass"
    return {
        "node": rule.node,
        "link": rule.link,
        "both_node_link": rule.both,
        "self-check": approved,
        "all": rule.both and approved,
    }
