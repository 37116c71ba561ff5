"""The split stage: `data.json` -> `split_ids.json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Table
from toolassay.console.text_formatting import count_of
from toolassay.errors import ToolassayError, UsageError, as_called
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import SPLITS, Split, read_labels
from toolassay.stages.settings import SplitSettings
from toolassay.variety.near_duplicates import Thresholds
from toolassay.variety.splits import Member, Splitting, near_repeats, signature, write_splits


def split(
    data_dir: str | Path,
    *,
    settings: SplitSettings = SplitSettings(),
    out: str | Path | None = None,
    force: bool = False,
    screen: Screen = DEFAULT,
) -> Splitting:
    """Split the samples of a folder so that no subgraph and no request is in two splits.

    The same samples, shares and seed give the same splits, whatever the order of the file.

    Args:
        data_dir: has `data.json`.
        settings: shares, tools to hold out, and what counts as a repeat.
        out: the file; default `split_ids.json` in the folder.
        force: replace a split file that another program made, and keep a dated copy.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: a file is missing or malformed, the shares are not valid, no sample uses a held-out tool,
            or the file may not be replaced.
        ToolassayError: there are no samples.
    """
    folder = DataFolder(Path(data_dir)).require()
    given: dict[Split, float] = {"train": settings.train, "dev": settings.dev, "test": settings.test}
    hold_out_tools = settings.hold_out_tools
    total = sum(given.values())
    if min(given.values()) < 0 or not 0 < total < float("inf"):
        listed = ", ".join(f"{name} {share:g}" for name, share in given.items())
        raise UsageError(
            f"the shares are not valid: {listed}", fix="give e.g. --train 0.8 --dev 0.1 --test 0.1"
        )
    if hold_out_tools and not settings.test:
        raise UsageError("tools are held out for the test split", fix="give --test more than 0")
    refuse_other_benchmarks(folder)
    bars = Thresholds(settings.threshold)
    members: list[Member] = []

    def golds() -> Iterator[Gold]:
        # The number of samples is not known before the file is read, so the progress has one step.
        with screen.progress(f"read {folder.data}", 1) as advance:
            for line in read_labels(folder.data):
                gold = Gold.of(line.value, line.number)
                members.append(Member.of(gold))
                yield gold
            advance()

    together: list[list[int]] = []
    if settings.near:
        together = near_repeats(golds(), bars)
    else:
        for _ in golds():
            pass
    if not members:
        raise ToolassayError("holds no samples", file=folder.data, fix="name a folder that has some")
    unused = sorted(set(hold_out_tools).difference(*(member.tools for member in members)))
    if unused:
        raise UsageError(
            f"no sample uses the tool '{unused[0]}'", file=folder.data, fix="check --hold_out_tools"
        )
    shares = {name: share / total for name, share in given.items()}
    result = Splitting.of(
        members,
        shares,
        seed=settings.seed,
        hold_out=hold_out_tools,
        together=together,
        near=settings.threshold if settings.near else None,
    )
    path = folder.path / "split_ids.json" if out is None else Path(out)
    copy = write_splits(path, result, force=force)
    if copy is not None:
        screen.say(f"kept {copy}")
    if abs(total - 1) > 1e-9:
        taken = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        screen.say(f"the shares add up to {total:g} and are scaled: {taken}")
    screen.say(
        f"{count_of(len(members), 'sample')} in {count_of(len(result.groups), 'group')}: samples with the "
        "same plan or with requests that repeat each other stay together"
    )
    screen.table(table(result))
    for sentence in not_held(result):
        screen.say(f"{WARNING}{sentence}")
    screen.say(signature(result))
    screen.show(str(path))
    return result


def table(result: Splitting) -> str:
    """The number of samples of each shape and size in each split, in Markdown."""
    names = [name for name in SPLITS if result.shares.get(name)]
    wished = [f"{name} ({result.shares[name]:.1%} wished)" for name in names]
    groups = result.group_counts()
    counts = result.counts()
    whole = {name: sum(by_split[name] for by_split in counts.values()) for name in SPLITS}
    rows = [_row(str(stratum), by_split, groups[stratum], names) for stratum, by_split in counts.items()]
    rows.append(_row("all", whole, len(result.groups), names))
    return Table(("stratum", "samples", "groups", *wished), rows).markdown()


def _row(name: str, by_split: dict[Split, int], groups: int, names: list[Split]) -> tuple[str | int, ...]:
    total = sum(by_split.values())
    return name, total, groups, *(f"{by_split[split]:,} ({by_split[split] / total:.1%})" for split in names)


def not_held(result: Splitting) -> Iterator[str]:
    """A sentence for each reason why shares are missed by more than one sample or a split is empty."""
    groups = result.group_counts()
    largest = result.largest()
    names = [name for name in SPLITS if result.shares.get(name)]
    empty = []
    missed = []
    counts = result.counts()
    everything = sum(map(len, result.groups))
    crowd = max(map(len, result.groups))
    without = [name for name in names if not any(by_split[name] for by_split in counts.values())]
    if without and crowd > everything / 2:
        yield (
            f"there are no samples in {', '.join(without)}: one group has {crowd:,} of "
            f"{count_of(everything, 'sample')}. They have the same plan, or repeat each other's requests. "
            f"More different plans help; {as_called('check')} takes repeats out"
        )
    for stratum, by_split in counts.items():
        total = sum(by_split.values())
        off = max(abs(by_split[name] - total * result.shares.get(name, 0)) for name in SPLITS)
        if off > 1:
            miss = f"{stratum} by {off:.1f} of {count_of(total, 'sample')}"
            if not result.hold_out:
                miss += f" (the largest of {count_of(groups[stratum], 'group')} has {largest[stratum]})"
            missed.append(miss)
        elif lacking := [name for name in names if not by_split[name]]:
            few = f"{count_of(total, 'sample')}, {count_of(groups[stratum], 'group')}"
            empty.append(f"{stratum} ({few}; none in {', '.join(lacking)})")
    if missed:
        why = "tools are held out" if result.hold_out else "groups are not divided"
        yield f"shares are missed, as {why}: {', '.join(missed)}"
    if empty:
        yield f"too few samples for a share in every split: {', '.join(empty)}"
