"""Critics: does what was written match what was sampled, and what does the teacher say?

The rule critic compares nodes and links (TaskBench, section 3.2). The LLM critic is the teacher's review,
read from its text; a review that cannot be read is unknown, never a pass or a fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from toolgraph.backinstruct.review import TeacherVerdict, read_review


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
    exact = {*sampled_nodes, *(name for link in sampled_links for name in link)}
    spellings = Counter(map(same_tool, exact))
    only = {name: tool for tool in exact if spellings[name := same_tool(tool)] == 1}

    def meant(name: str) -> str:
        return name if name in exact else only.get(same_tool(name), name)

    return RuleVerdict(
        Counter(sampled_nodes) == Counter(map(meant, nodes)),
        sampled_links == {(meant(source), meant(target)) for source, target in links},
    )


def same_tool(name: str) -> str:
    """A tool name with case, underscores and blanks made one.

    >>> same_tool(" Text_Search") == same_tool("text search")
    True
    """
    return " ".join(name.replace("_", " ").casefold().split())


def teacher_verdict(review: Any) -> TeacherVerdict:
    """What a teacher's review concludes: "pass" if executable and correct, "unknown" if it does not say.

    >>> teacher_verdict("Step 1 is fine. Executable: yes. Correct: no"), teacher_verdict("Looks good!")
    ('fail', 'unknown')
    """
    return read_review(review).verdict
