"""Makes a masked sample for annotation from raw chats: whole chats, stratified by workflow, drawn with a
seed.
"""

from __future__ import annotations

import operator
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from toolassay.benchmarks.classic.chats.chat import (
    Action,
    Chat,
    Filter,
    apply,
    cleaner,
    count_messages,
    mostly_masked,
    repeated,
    standard_filters,
)
from toolassay.benchmarks.classic.chats.masking import Finder, mask_chat, mask_workflow
from toolassay.benchmarks.classic.chats.raw_chats import RawChats
from toolassay.benchmarks.classic.chats.settings import ChatSampling
from toolassay.benchmarks.classic.data import MessageRow, Workflow, write_tables
from toolassay.benchmarks.csv_tables import write_table
from toolassay.console.tables import Table
from toolassay.console.text_formatting import count_of
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import write_json

STEPS = "steps.json"
DROPPED = "dropped.csv"


@dataclass(frozen=True)
class Drop:
    """A conversation that a step left out, completely or from one of its messages on.

    Attributes:
        conversation: its id.
        messages: how many user messages went.
        why: the reason, without any words of the conversation.
        kept: how many user messages before them stayed; 0 where the whole conversation went.
    """

    conversation: str
    messages: int
    why: str
    kept: int = 0


@dataclass(frozen=True)
class Step:
    """One row of the funnel.

    Attributes:
        step: its name.
        action: what a filter did; empty for other steps.
        conversations: how many entered.
        messages: how many user messages entered.
        dropped_conversations: how many were left out whole.
        cut_conversations: how many were cut at one of their messages.
        dropped_messages: how many user messages were left out.
        left_conversations: how many conversations are left.
        left_messages: how many user messages are left.
        why: the reason.
        counts: further figures by name.
    """

    step: str
    action: str
    conversations: int
    messages: int
    dropped_conversations: int
    cut_conversations: int
    dropped_messages: int
    left_conversations: int
    left_messages: int
    why: str
    counts: Mapping[str, int]


@dataclass
class ChatFunnel:
    """The steps so far; `conversations` and `messages` (of users) are those that are left.

    >>> funnel = ChatFunnel(conversations=10, messages=14)
    >>> funnel.add("too_short", "fewer than 5 characters", [Drop("c1", 2, "message 0 has 2 characters")])
    >>> funnel.conversations, funnel.messages
    (9, 12)
    """

    conversations: int
    messages: int
    steps: list[Step] = field(default_factory=list)
    drops: list[tuple[str, Drop]] = field(default_factory=list)

    def add(
        self,
        step: str,
        why: str,
        drops: Sequence[Drop] = (),
        *,
        action: str = "",
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Add a step that left out `drops`; the other arguments are those of `Step`."""
        whole = sum(not drop.kept for drop in drops)
        gone = sum(drop.messages for drop in drops)
        conversations = self.conversations
        messages = self.messages
        self.conversations = conversations - whole
        self.messages = messages - gone
        self.steps.append(
            Step(
                *(step, action, conversations, messages, whole, len(drops) - whole, gone),
                *(self.conversations, self.messages, why, dict(counts or {})),
            )
        )
        self.drops.extend((step, drop) for drop in drops)

    def table(self) -> str:
        """The funnel as a Markdown table."""
        headings = ("step", "conversations left out", "cut", "messages left out", "conversations", "messages")
        rows = [
            (
                *(step.step, step.dropped_conversations, step.cut_conversations, step.dropped_messages),
                *(step.left_conversations, step.left_messages),
            )
            for step in self.steps
        ]
        return Table(headings, rows).markdown()

    def write(self, folder: Path, **facts: Any) -> None:
        """Write `steps.json` (with `facts` before the steps) and `dropped.csv`."""
        write_table(
            folder / DROPPED,
            ("conversation_uuid", "step", "kept_messages", "dropped_messages", "why"),
            ([drop.conversation, step, drop.kept, drop.messages, drop.why] for step, drop in self.drops),
        )
        write_json(folder / STEPS, {**facts, "steps": [asdict(step) for step in self.steps]})


# User messages. Longer chats are one group: of the 450 bundled chats, 12 have 4 or 5 messages.
_LONG = 4


def draw_chats(
    chats: Sequence[Chat], per_domain: int, seed: int
) -> tuple[list[Chat], list[tuple[Chat, str]]]:
    """Draw chats of each domain, stratified.

    In a domain in which the bot started workflows, chats are grouped by the first workflow they started
    ("none" is a group too); in other domains, by length (1, 2, 3, 4 or more user messages). All groups give
    the same number of chats; what a small group lacks, the others provide. The draw of a domain depends only
    on the seed and its chats.

    Args:
        chats: of all domains.
        per_domain: number of chats to draw per domain, if it has that many.
        seed: of the draw.

    Returns:
        The drawn chats, in the given order, and the others, each with the reason.
    """
    domains: dict[str, list[Chat]] = defaultdict(list)
    for chat in chats:
        domains[chat.domain].append(chat)
    drawn: set[str] = set()
    why: dict[str, str] = {}
    for domain, these in domains.items():
        groups = _groups(these)
        for name, group in groups.items():
            random.Random(f"{seed}/{domain}/{name}").shuffle(group)
        for name, size in _shares({name: len(group) for name, group in groups.items()}, per_domain).items():
            drawn.update(chat.id for chat in groups[name][:size])
            reason = f"not drawn: {size} of {len(groups[name])} with {name}"
            why.update((chat.id, reason) for chat in groups[name][size:])
    others = [(chat, why[chat.id]) for chat in chats if chat.id not in drawn]
    return [chat for chat in chats if chat.id in drawn], others


def _groups(chats: Sequence[Chat]) -> dict[str, list[Chat]]:
    triggered = any(chat.workflow for chat in chats)
    groups: dict[str, list[Chat]] = defaultdict(list)
    for chat in sorted(chats, key=lambda chat: chat.id):
        length = len(chat.exchanges)
        by_length = f"{_LONG} or more messages" if length >= _LONG else f"{length} messages"
        groups[f"workflow {chat.workflow or '(none)'}" if triggered else by_length].append(chat)
    return dict(sorted(groups.items()))


def _shares(sizes: dict[str, int], wanted: int) -> dict[str, int]:
    """The number of chats per group: as equal as the sizes allow; small groups are filled first.

    >>> _shares({"a": 2, "b": 9, "c": 9}, 10)
    {'a': 2, 'b': 4, 'c': 4}
    """
    shares = {}
    left = wanted
    for number, (name, size) in enumerate(sorted(sizes.items(), key=lambda item: (item[1], item[0]))):
        shares[name] = min(size, left // (len(sizes) - number))
        left -= shares[name]
    return shares


RECORDED = "recorded.csv"
FILTERS = tuple(each.name for each in standard_filters(profane=lambda _: False))


@dataclass(frozen=True)
class ChatSample:
    """A sample with its funnel.

    Attributes:
        chats: cleaned, drawn and masked.
        workflows: of their domains, masked as well.
        funnel: what each step left out.
        masked: number of placeholders by kind.
    """

    chats: Sequence[Chat]
    workflows: Sequence[Workflow]
    funnel: ChatFunnel
    masked: Mapping[str, int]


def make_sample(
    raw: RawChats,
    settings: ChatSampling,
    *,
    profane: Callable[[str], bool] | None = None,
    find: Finder | None = None,
) -> ChatSample:
    """Clean, filter, draw and mask raw chats.

    Args:
        raw: The chats.
        settings: How they are filtered and drawn.
        profane: Tells whether a text contains profanity; None disables that filter.
        find: Finds personal data; None disables masking.

    Raises:
        UsageError: a library is not installed, or a filter is unknown or cannot be switched off.
        ToolassayError: no chat is left.
    """
    actions = settings.actions
    if unknown := [name for name in actions if name not in FILTERS]:
        raise UsageError(f"unknown filter {unknown[0]!r}", fix=f"choose from {', '.join(FILTERS)}")
    if wrong := {*actions.values()} - {*get_args(Action)}:
        raise UsageError(f"unknown action {min(wrong)!r} of a filter", fix="say drop, cut or off")
    if actions.get("null") == "off":
        raise UsageError("the filter null cannot be switched off", fix="use null=drop or null=cut")
    chats = list(raw.chats)
    funnel = ChatFunnel(len(chats), count_messages(chats))
    funnel.add("read", "raw rows put together into conversations", counts=raw.rows)
    clean = cleaner()
    changed = 0
    for number, chat in enumerate(chats):
        exchanges = [
            replace(exchange, user=clean(exchange.user), bot=clean(exchange.bot))
            for exchange in chat.exchanges
        ]
        changed += sum(map(operator.ne, chat.exchanges, exchanges))
        chats[number] = replace(chat, exchanges=tuple(exchanges))
    funnel.add("cleaned", "Unicode repaired, HTML taken out", counts={"changed_messages": changed})
    for each in standard_filters(min_length=settings.min_length, profane=profane):
        chats = _filtered(each, chats, settings, funnel)
    drawn, others = draw_chats(chats, settings.per_domain, settings.seed)
    funnel.add("sampled", "not drawn", [Drop(chat.id, len(chat.exchanges), why) for chat, why in others])
    workflows = list(raw.workflows)
    counts = Counter[str]()
    if find is not None:
        drawn = [mask_chat(chat, find, counts) for chat in drawn]
        workflows = [mask_workflow(workflow, find, counts) for workflow in workflows]
        funnel.add("masked", "personal data replaced by placeholders", counts=dict(sorted(counts.items())))
        for each in (mostly_masked(), repeated()):
            again = replace(each, name=f"{each.name}_after_masking")
            drawn = _filtered(again, drawn, settings, funnel, named=each.name)
    if not drawn:
        left_out = ((step.step, step.dropped_conversations) for step in funnel.steps)
        steps = [f"{name} {count:,}" for name, count in left_out if count]
        raise ToolassayError(
            f"no chat is left of {count_of(len(raw.chats), 'conversation')}; left out: {', '.join(steps)}",
            fix="relax some filters: --filter NAME=cut or NAME=off",
        )
    seen: dict[tuple[str, str], str] = {}
    for workflow in workflows:
        other = seen.setdefault((workflow.domain, workflow.name.casefold()), workflow.id)
        if not workflow.name or other != workflow.id:
            raise UsageError(
                f"{workflow.domain!r}: the workflows {other!r} and {workflow.id!r} have the same or no name",
                fix="give each workflow of a domain a name that is unique without personal data",
            )
    domains = {chat.domain for chat in drawn}
    offered = [workflow for workflow in workflows if workflow.domain in domains]
    return ChatSample(drawn, offered, funnel, dict(sorted(counts.items())))


def write_sample(sample: ChatSample, settings: ChatSampling, folder: Path) -> None:
    """Write the unlabelled tables, the bot's recorded values, `steps.json` and `dropped.csv`."""
    rows = [
        (chat, number, exchange) for chat in sample.chats for number, exchange in enumerate(chat.exchanges)
    ]
    write_table(
        folder / RECORDED,
        ("conversation_uuid", "request_idx", "workflow_uuid", "cost", "latency", "tokens"),
        (
            [chat.id, number, exchange.workflow, exchange.cost, exchange.latency, exchange.tokens]
            for chat, number, exchange in rows
        ),
    )
    sample.funnel.write(
        folder,
        seed=settings.seed,
        per_domain=settings.per_domain,
        min_length=settings.min_length,
        actions={**dict.fromkeys(FILTERS, "drop"), **settings.actions},
        masked=None if settings.mask == "off" else dict(sample.masked),
    )
    write_tables(
        folder,
        (
            MessageRow(chat.id, exchange.user, exchange.bot, "", "", number, chat.domain)
            for chat, number, exchange in rows
        ),
        sample.workflows,
        {domain: domain for domain in dict.fromkeys(chat.domain for chat in sample.chats)},
    )


def _filtered(
    chosen: Filter, chats: list[Chat], settings: ChatSampling, funnel: ChatFunnel, *, named: str = ""
) -> list[Chat]:
    action = settings.actions.get(named or chosen.name, "drop")
    kept, out = apply(chosen, chats, action)
    drops = [Drop(chat.id, len(chat.exchanges) - stay, why, stay) for chat, stay, why in out]
    funnel.add(chosen.name, chosen.why, drops, action=action)
    return kept
