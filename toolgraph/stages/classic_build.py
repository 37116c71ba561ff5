"""A set from one's own chats: sample, workbooks, merge, the hub's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolgraph.benchmarks.classic.chats.filters import Action, profane_words
from toolgraph.benchmarks.classic.chats.masking import Finder, find_with
from toolgraph.benchmarks.classic.chats.raw import RawSource, read_chats
from toolgraph.benchmarks.classic.chats.sample import SampleSettings, make_sample, write_sample
from toolgraph.benchmarks.classic.chats.tables import check_empty
from toolgraph.errors import UsageError
from toolgraph.files import read_text
from toolgraph.stages.screen import SILENT, WARNING, Screen
from toolgraph.words import count_of


def sample_chats(
    source: RawSource,
    out: str | Path,
    *,
    per_domain: int = 1000,
    seed: int = 0,
    min_length: int = 5,
    mask: str = "patterns",
    mask_patterns: Mapping[str, str] | None = None,
    phone_regions: Sequence[str] = (),
    profanity: str | Path | None = None,
    actions: Mapping[str, Action] | None = None,
    force: bool = False,
    screen: Screen = SILENT,
) -> None:
    """Clean, filter, draw and mask raw chats.

    Args:
        source: where they are.
        out: the folder for the tables without labels, `recorded.csv`, `steps.json` and `dropped.csv`.
        per_domain: conversations to draw of each domain.
        seed: of the draw.
        min_length: characters that a user message must have.
        mask: `patterns`, `off`, or the folder of a spaCy model that finds names too.
        mask_patterns: further patterns by kind.
        phone_regions: of telephone numbers without a country code.
        profanity: a file of words, one a line.
        actions: what each filter does, `drop` where nothing is said.
        force: replace files that are there.
        screen: who listens.

    Raises:
        UsageError: bad input, with its line; a missing library; `out` is not empty.
        ToolgraphError: no chat is left.
    """
    folder = Path(out)
    check_empty(folder, force=force)
    words = None if profanity is None else read_text(Path(profanity)).split("\n")
    settings = SampleSettings(
        per_domain=per_domain,
        seed=seed,
        min_length=min_length,
        actions=actions or {},
        profane=None if words is None else profane_words([word.strip() for word in words if word.strip()]),
        mask=_finder(mask, mask_patterns, phone_regions),
    )
    sample = make_sample(read_chats(source), settings)
    write_sample(sample, settings, folder)
    screen.table(sample.funnel.table())
    if settings.mask is None:
        screen.say(f"{WARNING}personal data is not masked")
    else:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sample.masked.items()) or "nothing"
        screen.say(f"masked: {kinds}")
        _warn_of_ids([chat.id for chat in sample.chats], settings.mask, screen)
    screen.say(f"{folder}: {count_of(len(sample.chats), 'conversation')}, without labels")


def _finder(mask: str, patterns: Mapping[str, str] | None, regions: Sequence[str]) -> Finder | None:
    if mask == "off":
        if patterns:
            raise UsageError("--mask off and --mask_pattern contradict", fix="leave one of them out")
        return None
    model = None if mask == "patterns" else Path(mask)
    return find_with(model, regions=regions, own=patterns)


def _warn_of_ids(ids: Sequence[str], find: Finder, screen: Screen) -> None:
    telling = sum(bool(find(name)) for name in ids)
    if telling:
        screen.say(
            f"{WARNING}{count_of(telling, 'conversation id')} may hold personal data: ids are not masked, "
            "give the chats other ones"
        )
