"""From raw chats to a sample that can be annotated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolassay.benchmarks.classic.chats.chat import Chat, Exchange, count_messages
from toolassay.benchmarks.classic.chats.cleaning import clean_chat, cleaner
from toolassay.benchmarks.classic.chats.filters import (
    Action,
    Filter,
    apply,
    mostly_masked,
    repeated,
    standard_filters,
)
from toolassay.benchmarks.classic.chats.funnel import Drop, Funnel
from toolassay.benchmarks.classic.chats.masking import Finder, mask_chat, mask_workflow
from toolassay.benchmarks.classic.chats.raw import RawChats
from toolassay.benchmarks.classic.chats.sampling import draw
from toolassay.benchmarks.classic.chats.tables import MessageRow, write_tables
from toolassay.benchmarks.classic.data import Workflow
from toolassay.benchmarks.classic.data.table import write_table
from toolassay.errors import ToolassayError, UsageError
from toolassay.words import count_of

RECORDED = "recorded.csv"
FILTERS = tuple(each.name for each in standard_filters(profane=lambda _: False))


@dataclass(frozen=True)
class SampleSettings:
    """What shapes a sample.

    Args:
        per_domain: conversations to draw of each domain.
        seed: of the draw.
        min_length: characters that a user message must have.
        actions: what each filter does, by its name; `drop` where nothing is said.
        profane: says whether a text has profanity; None looks for none.
        mask: finds personal data; None masks nothing.
    """

    per_domain: int = 1000
    seed: int = 0
    min_length: int = 5
    actions: Mapping[str, Action] = field(default_factory=dict)
    profane: Callable[[str], bool] | None = None
    mask: Finder | None = None


@dataclass(frozen=True)
class Sample:
    """A sample, and how it came about.

    Args:
        chats: cleaned, drawn and masked.
        workflows: of their domains, masked too.
        funnel: what each step left out.
        masked: placeholders, by kind.
    """

    chats: Sequence[Chat]
    workflows: Sequence[Workflow]
    funnel: Funnel
    masked: Mapping[str, int]


def make_sample(raw: RawChats, settings: SampleSettings) -> Sample:
    """Clean, filter, draw and mask.

    Raises:
        UsageError: a library is missing, a filter is unknown, or may not be switched off.
        ToolassayError: no chat is left.
    """
    _check_actions(settings.actions)
    chats = list(raw.chats)
    funnel = Funnel(len(chats), count_messages(chats))
    funnel.add("read", "raw rows put together into conversations", counts=raw.rows)
    chats = _cleaned(chats, funnel)
    for each in standard_filters(min_length=settings.min_length, profane=settings.profane):
        chats = _filtered(each, chats, settings, funnel)
    drawn, others = draw(chats, settings.per_domain, settings.seed)
    funnel.add("sampled", "not drawn", [Drop(chat.id, len(chat.exchanges), why) for chat, why in others])
    workflows, counts = list(raw.workflows), Counter[str]()
    if settings.mask is not None:
        find = settings.mask
        drawn = [mask_chat(chat, find, counts) for chat in drawn]
        workflows = [mask_workflow(workflow, find, counts) for workflow in workflows]
        funnel.add("masked", "personal data replaced by placeholders", counts=dict(sorted(counts.items())))
        for each in (mostly_masked(), repeated()):
            again = replace(each, name=f"{each.name}_after_masking")
            drawn = _filtered(again, drawn, settings, funnel, named=each.name)
    if not drawn:
        steps = [
            f"{step.step} {step.dropped_conversations:,}"
            for step in funnel.steps
            if step.dropped_conversations
        ]
        raise ToolassayError(
            f"no chat is left of {count_of(len(raw.chats), 'conversation')}; left out: {', '.join(steps)}",
            fix="let some filters do less: --filter NAME=cut, or off",
        )
    domains = {chat.domain for chat in drawn}
    _check_names(workflows)
    return Sample(
        drawn,
        [workflow for workflow in workflows if workflow.domain in domains],
        funnel,
        dict(sorted(counts.items())),
    )


def write_sample(sample: Sample, settings: SampleSettings, folder: Path) -> None:
    """Write the tables without labels, what the bot recorded, `steps.json` and `dropped.csv`."""
    rows = [(chat, place, exchange) for chat in sample.chats for place, exchange in enumerate(chat.exchanges)]
    write_table(
        folder / RECORDED,
        ("conversation_uuid", "request_idx", "workflow_uuid", "cost", "latency", "tokens"),
        ([chat.id, place, *_recorded(exchange)] for chat, place, exchange in rows),
    )
    sample.funnel.write(
        folder,
        seed=settings.seed,
        per_domain=settings.per_domain,
        min_length=settings.min_length,
        actions={**dict.fromkeys(FILTERS, "drop"), **settings.actions},
        masked=None if settings.mask is None else dict(sample.masked),
    )
    write_tables(
        folder,
        (
            MessageRow(chat.id, exchange.user, exchange.bot, "", "", place, chat.domain)
            for chat, place, exchange in rows
        ),
        sample.workflows,
        {domain: domain for domain in dict.fromkeys(chat.domain for chat in sample.chats)},
    )


def _recorded(exchange: Exchange) -> tuple[str, ...]:
    return exchange.workflow, exchange.cost, exchange.latency, exchange.tokens


def _check_actions(actions: Mapping[str, Action]) -> None:
    for name, action in actions.items():
        if name not in FILTERS:
            raise UsageError(f"there is no filter {name!r}", fix=f"name one of {', '.join(FILTERS)}")
        if name == "null" and action == "off":
            raise UsageError("the filter null cannot be switched off", fix="say null=drop or null=cut")


def _cleaned(chats: list[Chat], funnel: Funnel) -> list[Chat]:
    clean = cleaner()
    cleaned = [clean_chat(chat, clean) for chat in chats]
    changed = sum(
        before != after
        for old, new in zip(chats, cleaned, strict=True)
        for before, after in zip(old.exchanges, new.exchanges, strict=True)
    )
    funnel.add("cleaned", "Unicode repaired, HTML taken out", counts={"changed_messages": changed})
    return cleaned


def _filtered(
    chosen: Filter, chats: list[Chat], settings: SampleSettings, funnel: Funnel, *, named: str = ""
) -> list[Chat]:
    action = settings.actions.get(named or chosen.name, "drop")
    kept, out = apply(chosen, chats, action)
    drops = [Drop(chat.id, len(chat.exchanges) - stay, why, stay) for chat, stay, why in out]
    funnel.add(chosen.name, chosen.why, drops, action=action)
    return kept


def _check_names(workflows: Sequence[Workflow]) -> None:
    """Names must still differ when they have been masked."""
    seen: dict[tuple[str, str], str] = {}
    for workflow in workflows:
        other = seen.setdefault((workflow.domain, workflow.name.casefold()), workflow.id)
        if not workflow.name or other != workflow.id:
            raise UsageError(
                f"the workflows {other!r} and {workflow.id!r} of {workflow.domain!r} have one name, or none",
                fix="give each workflow of a domain a name of its own, also without personal data",
            )
