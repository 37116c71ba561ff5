"""The text of a request: its clauses in sentences, with an opening situation and a closing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolassay.offline.writer.clauses import Clause
from toolassay.offline.writer.english import joined, read_list
from toolassay.offline.writer.story import SLOT, Story

_SENTENCE_START = re.compile(r"^[a-z]|(?<=[.!?] )[a-z]")
_OF_TOPIC = frozenset(
    {"topic", "topic_query", "query", "fact", "scene", "draft", "question", "photo", "speech", "foreign"}
)


class Situations:
    """Situations and closings for one request, with the same people and deadlines throughout."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._memory: dict[str, str] = {}

    def opening(self, kind: str) -> str:
        """A sentence that gives the reason for the request, of a kind (`topic`, `general`, …)."""
        return self._filled(self.story.pick(read_list("situations")[kind]))

    def kind(self, *, resource: bool) -> str:
        """The kind of situation that fits the literals."""
        on_topic = bool(self.story.used & _OF_TOPIC)
        if resource:
            return "topic" if on_topic or self.story.chance(0.7) else "general"
        return "topic" if "topic" in self.story.used and self.story.chance(0.35) else "general"

    def closing(self) -> str:
        """A closing that does not contradict the opening."""
        closings = [text for text in read_list("situations")["closings"] if self._fits(text)]
        return self._filled(self.story.pick(closings))

    def _fits(self, text: str) -> bool:
        timed = bool({"when", "day"} & self._memory.keys())
        return not (timed and re.search(r"\{(?:when|day)\}|hurry", text))

    def _filled(self, template: str) -> str:
        text = SLOT.sub(self._word, template)
        return _SENTENCE_START.sub(lambda match: match[0].upper(), text)

    def _word(self, match: re.Match[str]) -> str:
        name = match.group(1)
        words = read_list("situations")["slots"].get(name)
        if words is None:
            return self.story.field(name)
        if name not in self._memory:
            word = self.story.pick(words)
            self._memory[name] = ""
            self._memory[name] = SLOT.sub(self._word, word)
        return self._memory[name]


_MOST_WORDS = 34
_CLOSED = re.compile(r"[.!?]['\"]$")


class Assembly:
    """Joins the clauses of one request to sentences.

    Args:
        clauses: the steps in words.
        story: source of the random choices between wordings.
        resource: whether steps take results of others; otherwise only the order matters.
    """

    def __init__(self, clauses: Sequence[Clause], story: Story, *, resource: bool) -> None:
        self.clauses, self.story, self.resource = clauses, story, resource
        self._asks: dict[str, list[str]] = read_list("asks")

    def ask(self) -> str:
        """All clauses, as prose or as a list."""
        count = len(self.clauses)
        if count >= 4 and self.story.chance(0.2 if count == 4 else 0.4):
            return self._list()
        if count == 1:
            return _framed(self._frame("single", self.clauses[0]), self.clauses[0].text)
        return " ".join(self._prose())

    def _list(self) -> str:
        style = self.story.pick(("({})", "{})", "{}."))
        items = [
            f"{style.format(number)} {self._listed_lead(clause)}{clause.text}"
            for number, clause in enumerate(self.clauses, start=1)
        ]
        joint = ", " if max(len(item.split()) for item in items) < 9 else "; "
        return _ended(f"{self.story.pick(self._asks['lists'])} {joint.join(items)}", ".")

    def _listed_lead(self, clause: Clause) -> str:
        if not clause.lead:
            return ""
        if len(clause.waits) == 1 and self.story.chance(0.6):
            return f"{clause.lead}, "
        numbers = joined([str(number + 1) for number in clause.waits])
        return f"after step{'s' if len(clause.waits) > 1 else ''} {numbers}, "

    def _prose(self) -> list[str]:
        sentences: list[str] = []
        start, frame = 0, ""
        while start < len(self.clauses):
            group = self._group(start)
            first, end = self.clauses[start], start + len(group) == len(self.clauses)
            if first.lead:
                frame = self._led(first.lead)
            else:
                alone = end and len(group) == 1 and first.relation == "follows" and self.story.chance(0.6)
                frame = self._frame("last" if alone else first.relation, first, unlike=frame)
            sentences.append(_framed(frame, self._joined(group, frame, last=end and start > 0)))
            start += len(group)
        return sentences

    def _group(self, start: int) -> list[Clause]:
        """The clauses of the next sentence: one to three, not too long."""
        group = [self.clauses[start]]
        wanted = self.story.pick((1, 2, 2, 2, 3))
        words = len(group[0].text.split())
        for clause in self.clauses[start + 1 : start + wanted]:
            words += len(clause.text.split())
            if clause.lead or words > _MOST_WORDS or (clause.relation == "fresh" and self.story.chance(0.6)):
                break
            if _CLOSED.search(group[-1].text):
                break
            group.append(clause)
        return group

    def _joined(self, group: Sequence[Clause], frame: str, *, last: bool) -> str:
        """The clauses of one sentence, with "also" and "then" at most once."""
        text, used = group[0].text, frame.lower()
        for place, clause in enumerate(group[1:], start=1):
            final = place == len(group) - 1
            if clause.relation != "follows":
                joints = [" and also ", ", and also ", " and "] if final else [", also "]
            elif not final:
                joints = [", then ", ", next "]
            elif last and place > 1:
                joints = [" and finally ", ", and finally ", " and lastly "]
            elif " and " in text:
                joints = [", then ", ", and then ", ", and after that "]
            else:
                joints = [" and then ", ", then ", " and after that "]
            fresh = [
                joint
                for joint in joints
                if not set(joint.split()) & {"also", "then", "next", "after"} & _words(used)
            ]
            joint = self.story.pick(fresh or ([" and ", ", and "] if final else [", "]))
            used += joint
            text += joint + clause.text
        return text

    def _frame(self, kind: str, first: Clause, unlike: str = "") -> str:
        kind = "order" if kind == "follows" and not self.resource else kind
        # A sentence must not begin with a literal, whose first letter would be capitalised.
        literal = first.begins_with_literal
        frames = [f for f in self._asks[kind] if f != unlike and not (literal and f.startswith("{x}"))]
        return self.story.pick(frames)

    def _led(self, lead: str) -> str:
        middle = self.story.pick(
            (", {x}.", ", {x}.", ", please {x}.", ", I'd like you to {x}.", ", could you {x}?")
        )
        return lead + middle


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _framed(frame: str, text: str) -> str:
    return _ended(frame[:-1].replace("{x}", text), frame[-1])


def _ended(text: str, stop: str) -> str:
    text = text[0].upper() + text[1:]
    if _CLOSED.search(text) and (stop == "." or text[-2] == "?"):
        return text
    return text + stop
