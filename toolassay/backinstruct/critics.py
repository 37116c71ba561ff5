"""Critics: does what was written match what was sampled, and what does the teacher say? And
`alignment_ids.json`.

The rule critic compares nodes and links (TaskBench, section 3.2). The LLM critic is the teacher's review,
read from its text; a review that cannot be read is unknown, never a pass or a fail. `Alignment` collects
which samples each critic passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolassay.backinstruct.teacher_review import TeacherVerdict, read_review
from toolassay.dataset import SHAPES


class RuleVerdict(NamedTuple):
    """Whether nodes and links are those of the sample."""

    node: bool
    link: bool

    @property
    def both(self) -> bool:
        """Nodes and links both match."""
        return self.node and self.link


class Verdicts(NamedTuple):
    """What both critics say of one plan."""

    rule: RuleVerdict
    teacher: TeacherVerdict


def verdicts(
    sampled_nodes: Iterable[str],
    sampled_links: Iterable[tuple[str, str]],
    nodes: Iterable[str],
    links: Iterable[tuple[str, str]],
    review: Any,
) -> Verdicts:
    """The verdicts of the rule critic on a plan and its sample, and of the teacher by its review."""
    return Verdicts(rule_critic(sampled_nodes, sampled_links, nodes, links), teacher_verdict(review))


def rule_critic(
    sampled_nodes: Iterable[str],
    sampled_links: Iterable[tuple[str, str]],
    nodes: Iterable[str],
    links: Iterable[tuple[str, str]],
) -> RuleVerdict:
    """Compare a plan with its sample: the same tools as often, the same links.

    A name is that of the sample as it stands, else the only sampled one that `same_tool` takes for the same.

    >>> rule_critic(["a b"], [], ["a_b"], [])
    RuleVerdict(node=True, link=True)
    >>> rule_critic(["a b", "a_b"], [], ["a b", "a b"], [])
    RuleVerdict(node=False, link=True)
    """
    sampled_nodes, sampled_links = list(sampled_nodes), set(sampled_links)
    spellings = Spellings([*sampled_nodes, *(name for link in sampled_links for name in link)])
    return RuleVerdict(
        Counter(sampled_nodes) == Counter(map(spellings.read, nodes)),
        sampled_links == {(spellings.read(source), spellings.read(target)) for source, target in links},
    )


def same_tool(name: str) -> str:
    """A tool name with case, underscores and blanks made one.

    >>> same_tool(" Text_Search") == same_tool("text search")
    True
    """
    return " ".join(name.replace("_", " ").casefold().split())


class Spellings:
    """Names, and which of them a text means: the name as it stands, else the only one spelt alike.

    >>> names = Spellings(["Text Search", "a b", "a_b"])
    >>> names.meant("text_search"), names.meant("A B"), names.read("A B")
    ('Text Search', None, 'A B')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = set(names)
        spellings = Counter(map(same_tool, self._exact))
        self._only = {name: tool for tool in self._exact if spellings[name := same_tool(tool)] == 1}

    def meant(self, name: str) -> str | None:
        """The name that is meant; None where there is none, or more than one."""
        return name if name in self._exact else self._only.get(same_tool(name))

    def read(self, name: str) -> str:
        """The name that is meant, else the text itself."""
        return self.meant(name) or name


def teacher_verdict(review: Any) -> TeacherVerdict:
    """What a teacher's review concludes: "pass" if executable and correct, "unknown" if it does not say.

    >>> teacher_verdict("Step 1 is fine. Executable: yes. Correct: no"), teacher_verdict("Looks good!")
    ('fail', 'unknown')
    """
    return read_review(review).verdict


MODES = ("node", "link", "both_node_link", "self-check", "all")


@dataclass
class Alignment:
    """Verdicts gathered label by label.

    `ids` is the object of `alignment_ids.json`: `{mode}_alignment_id` -> shape -> ids.
    """

    ids: dict[str, dict[str, list[Any]]] = field(
        default_factory=lambda: {f"{mode}_alignment_id": {shape: [] for shape in SHAPES} for mode in MODES}
    )
    labels: Counter[str] = field(default_factory=Counter)
    teacher: Counter[TeacherVerdict] = field(default_factory=Counter)
    nodes: int = 0
    links: int = 0

    def add(self, label: Mapping[str, Any], said: Verdicts) -> None:
        """Note one label and who lets it pass."""
        self.labels[label["type"]] += 1
        self.teacher[said.teacher] += 1
        self.nodes += len(label["task_nodes"])
        self.links += len(label["task_links"])
        for mode, passed in passes(said).items():
            if passed:
                self.ids[f"{mode}_alignment_id"][label["type"]].append(label["id"])

    def by_shape(self) -> Iterable[tuple[str, list[int]]]:
        """Rows (critic, [single, chain, dag, overall]): all samples, then those each critic lets pass."""
        counts = [self.labels[shape] for shape in SHAPES]
        yield "all samples", [*counts, sum(counts)]
        for mode in MODES:
            counts = [len(self.ids[f"{mode}_alignment_id"][shape]) for shape in SHAPES]
            yield _CRITIC_NAMES[mode], [*counts, sum(counts)]


_CRITIC_NAMES = {
    "node": "rule critic: nodes",
    "link": "rule critic: links",
    "both_node_link": "rule critic: nodes and links",
    "self-check": "LLM critic",
    "all": "both critics",
}


def verdicts_of(label: Mapping[str, Any]) -> Verdicts:
    """What the rule critic and the teacher say of a label."""
    return verdicts(
        (node["task"] for node in label["sampled_nodes"]),
        ((link["source"], link["target"]) for link in label["sampled_links"]),
        (node["task"] for node in label["task_nodes"]),
        ((link["source"], link["target"]) for link in label["task_links"]),
        label.get("check_by_teacher"),
    )


def passes(said: Verdicts) -> dict[str, bool]:
    """Whether a sample passes, by mode; an unknown teacher's verdict never does."""
    rule, approved = said.rule, said.teacher == "pass"
    return {
        "node": rule.node,
        "link": rule.link,
        "both_node_link": rule.both,
        "self-check": approved,
        "all": rule.both and approved,
    }
