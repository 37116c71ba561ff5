"""Critics: does what was written match what was sampled, and what does the teacher say?

The rule critic compares nodes and links (TaskBench, section 3.2). The LLM critic is the teacher's review,
read from its text; a review that cannot be read is unknown, never a pass or a fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from toolassay.backinstruct.review import TeacherVerdict, read_review


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
