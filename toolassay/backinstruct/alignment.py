"""Which samples each critic lets pass: `alignment_ids.json`, and the two tables printed from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolassay.backinstruct.critics import Verdicts, verdicts
from toolassay.backinstruct.review import TeacherVerdict
from toolassay.dataset import SHAPES

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
            yield _NAMES[mode], [*counts, sum(counts)]


_NAMES = {
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
