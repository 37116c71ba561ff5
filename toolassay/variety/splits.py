"""Splits for training and testing: no subgraph, no request and no near duplicate of it is in two of them.

Samples that repeat each other form a *group*, which goes into one split as a whole. A *stratum* is a shape
and a number of tools; each stratum has the requested shares, as closely as its groups allow.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from networkx.utils import UnionFind

from toolassay.console.tables import Result
from toolassay.errors import UsageError, as_called, made_by
from toolassay.files.data_files import keep_dated_copy, unescaped_json, write_json
from toolassay.plans.gold import Ends, Gold
from toolassay.records.dataset import SHAPES, SPLITS, RequestId, Shape, Split, WrittenSplits, shape_of
from toolassay.variety.near_duplicates import Item, Thresholds, digest, find_repeats
from toolassay.version import OLD_NAME, __version__

# Matches ", " and "_"; nothing in "café2".
_NOT_WORDS = re.compile(r"[\W_]+")


class Stratum(NamedTuple):
    """A shape and a number of tools; `str` gives "chain of 3"."""

    shape: Shape
    size: int

    def __str__(self) -> str:
        return f"{self.shape} of {self.size}"


@dataclass(frozen=True, slots=True)
class Member:
    """The properties of a sample that splitting needs.

    Attributes:
        id: the id of the sample.
        stratum: its shape and number of tools.
        tools: the tools of its plan.
        keys: texts; two samples with a common key belong in one split.
    """

    id: RequestId
    stratum: Stratum
    tools: frozenset[str]
    keys: tuple[str, ...]

    @classmethod
    def of(cls, gold: Gold) -> Member:
        """The properties of a gold plan.

        Its keys are its id, its request without case and punctuation, and its subgraph: that of the gold
        plan, and the sampled one if the label has one. The order of nodes and links does not matter.

        >>> first = Gold.of({"id": 1, "user_request": "Go!", "task_nodes": [{"task": "a b"}, {"task": "c"}]})
        >>> other = Gold.of({"id": 2, "user_request": "Stop", "task_nodes": [{"task": "C"}, {"task": "a_b"}]})
        >>> set(Member.of(first).keys) & set(Member.of(other).keys)
        {'graph ["a b", "c"] []'}
        """
        tools = [node.tool for node in gold.nodes]
        keys = [f"id {gold.id}"]
        request = _plain(gold.request)
        if request:
            keys.append(f"request {request}")
        if tools:
            keys.append(_graph_key(tools, gold.links))
        if gold.sampled_nodes:
            keys.append(_graph_key(gold.sampled_nodes, gold.sampled_links or ()))
        stratum = Stratum(shape_of(len(tools), gold.links, tools=tools), len(tools))
        return cls(gold.id, stratum, frozenset(tools), tuple(dict.fromkeys(keys)))


def _plain(text: str) -> str:
    """A text without case, punctuation and double blanks; a text of punctuation alone stays unchanged."""
    return _NOT_WORDS.sub(" ", text.casefold()).strip() or text.strip()


@lru_cache(maxsize=100_000)
def _plain_name(tool: str) -> str:
    return _plain(tool)


def _graph_key(tools: Iterable[str], links: Iterable[Ends]) -> str:
    nodes = sorted(_plain_name(tool) for tool in tools)
    ends = sorted({(_plain_name(source), _plain_name(target)) for source, target in links})
    return f"graph {unescaped_json(nodes)} {unescaped_json(ends)}"


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Samples that must stay in one split.

    Attributes:
        name: the smallest of their keys, so that the name does not depend on the order of the samples.
        members: the samples, sorted by id.
    """

    name: str
    members: tuple[Member, ...]

    def __len__(self) -> int:
        return len(self.members)

    @property
    def strata(self) -> Counter[Stratum]:
        """The number of its samples in each stratum."""
        return Counter(member.stratum for member in self.members)

    def uses(self, tools: Collection[str]) -> bool:
        """Whether any of its samples uses one of these tools."""
        return any(not member.tools.isdisjoint(tools) for member in self.members)


def groups_of(members: Iterable[Member], together: Iterable[Sequence[int]] = ()) -> list[SampleGroup]:
    """Group the samples that share a key, directly or through other samples.

    Args:
        members: the samples, in any order.
        together: indices of further samples that must stay together, as `near_repeats` returns them.

    Returns:
        The groups, sorted by name.
    """
    all_members = list(members)
    sets = UnionFind(range(len(all_members)))
    first: dict[str, int] = {}
    for position, member in enumerate(all_members):
        for key in member.keys:
            sets.union(first.setdefault(key, position), position)
    for positions in together:
        sets.union(*positions)
    parts: defaultdict[int, list[Member]] = defaultdict(list)
    for position, member in enumerate(all_members):
        parts[sets[position]].append(member)
    groups = [
        SampleGroup(
            min(key for member in group_members for key in member.keys),
            tuple(sorted(group_members, key=lambda member: (str(member.id), member.keys))),
        )
        for group_members in parts.values()
    ]
    return sorted(groups, key=lambda group: group.name)


def near_repeats(golds: Iterable[Gold], thresholds: Thresholds | None = None) -> list[list[int]]:
    """The indices, from 0, of samples whose requests are near duplicates, directly or through others.

    Samples are compared in the order of a hash, not of the file: the search skips pairs in large groups of
    similar requests, and the order of the file must not decide which.

    Args:
        golds: the samples, iterated over once.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.

    Returns:
        One sorted list for each group of two or more samples.

    >>> texts = ["Crop a.jpg for me", "Pay the bill", "Could you please crop a.jpg?"]
    >>> near_repeats(Gold.of({"id": number, "user_request": text}) for number, text in enumerate(texts))
    [[0, 2]]
    """
    ranked = sorted(
        (digest([str(gold.id), gold.request]), Item.of(gold)._replace(key=position))
        for position, gold in enumerate(golds)
    )
    clusters = find_repeats((item for _, item in ranked), thresholds=thresholds).clusters()
    return sorted(sorted(int(position) for position in cluster) for cluster in clusters)


DEFAULT_SHARES: Mapping[Split, float] = {"train": 0.8, "dev": 0.1, "test": 0.1}


def assign(
    groups: Sequence[SampleGroup],
    shares: Mapping[Split, float] = DEFAULT_SHARES,
    *,
    seed: int = 0,
    hold_out: Collection[str] = (),
) -> list[Split]:
    """The split of each group, in the order of `groups`.

    Greedy stratification of whole groups, the largest first (after Sechidis, Tsoumakas and Vlahavas, On the
    Stratification of Multi-Label Data, ECML PKDD 2011, who take the rarest label first). A group is drawn
    among the splits that lack at least half of its size, weighted by what they lack of its strata, so that
    frequent subgraphs are not all in "train". If no split lacks that much, the group goes where its strata
    lack most. A split that has its share over all strata gets no more groups.

    Args:
        groups: in any order; the order does not change the result.
        shares: the share of each split; they add up to 1.
        seed: seed of the draws.
        hold_out: tools that must not be trained on; groups that use one go to "test" and are assigned first.
    """
    splits = [split for split in SPLITS if shares.get(split, 0) > 0]
    totals: Counter[Stratum] = Counter()
    for group in groups:
        totals.update(group.strata)
    missing_by_stratum = {
        split: {stratum: count * shares[split] for stratum, count in totals.items()} for split in splits
    }
    missing = {split: totals.total() * shares[split] for split in splits}
    chosen: dict[int, Split] = {}
    draw = random.Random(seed)
    named = (f"{seed} {group.name}".encode("utf-8", "surrogatepass") for group in groups)
    ranks = {position: hashlib.sha256(name).hexdigest() for position, name in enumerate(named)}
    held_out = {position for position, group in enumerate(groups) if hold_out and group.uses(hold_out)}
    for position in sorted(
        ranks, key=lambda position: (position not in held_out, -len(groups[position]), ranks[position])
    ):
        strata = groups[position].strata
        size = len(groups[position])
        if position in held_out:
            split: Split = "test"
        else:
            needs = {name: sum(missing_by_stratum[name][stratum] for stratum in strata) for name in splits}
            split = _drawn(draw, size, needs, missing)
        chosen[position] = split
        if split in missing_by_stratum:
            missing[split] -= size
            for stratum, count in strata.items():
                missing_by_stratum[split][stratum] -= count
    return [chosen[position] for position in range(len(groups))]


def _drawn(
    draw: random.Random, size: int, needs: Mapping[Split, float], missing: Mapping[Split, float]
) -> Split:
    """Draw the split of a group.

    Args:
        draw: the random generator.
        size: number of samples in the group.
        needs: number of samples that each split lacks in the strata of the group.
        missing: number of samples that each split lacks in all strata.
    """
    room = [name for name in needs if missing[name] >= size / 2]
    willing = [name for name in room if needs[name] >= size / 2]
    if willing:
        return draw.choices(willing, [needs[name] for name in willing])[0]
    return max(room, key=needs.__getitem__) if room else max(missing, key=missing.__getitem__)


@dataclass(frozen=True, repr=False)
class Splitting(Result):
    """Groups with their splits, and the settings of the assignment.

    Attributes:
        groups: the groups, sorted by name.
        splits: the split of each group, in the same order.
        shares: the requested share of each split.
        seed: seed of the draws.
        hold_out: tools that must not be trained on.
        near: threshold of near duplicates; None if only exact repeats are kept together.
    """

    groups: Sequence[SampleGroup]
    splits: Sequence[Split]
    shares: Mapping[Split, float]
    seed: int
    hold_out: tuple[str, ...] = ()
    near: float | None = None

    @classmethod
    def of(
        cls,
        members: Iterable[Member],
        shares: Mapping[Split, float] = DEFAULT_SHARES,
        *,
        seed: int = 0,
        hold_out: Collection[str] = (),
        together: Iterable[Sequence[int]] = (),
        near: float | None = None,
    ) -> Splitting:
        """Group samples with `groups_of`, and assign the groups with `assign`; the arguments are theirs."""
        groups = groups_of(members, together)
        splits = assign(groups, shares, seed=seed, hold_out=hold_out)
        return cls(groups, splits, dict(shares), seed, tuple(sorted(hold_out)), near)

    def counts(self) -> dict[Stratum, dict[Split, int]]:
        """The number of samples of each stratum in each split, sorted by shape and size."""
        counts: defaultdict[Stratum, Counter[Split]] = defaultdict(Counter)
        for group, split in zip(self.groups, self.splits, strict=True):
            for stratum, count in group.strata.items():
                counts[stratum][split] += count
        order = sorted(counts, key=lambda stratum: (SHAPES.index(stratum.shape), stratum.size))
        return {stratum: {split: counts[stratum][split] for split in SPLITS} for stratum in order}

    def group_counts(self) -> Counter[Stratum]:
        """The number of groups with samples of each stratum."""
        return Counter(stratum for group in self.groups for stratum in group.strata)

    def largest(self) -> dict[Stratum, int]:
        """The size of the largest group that has samples of each stratum."""
        largest: dict[Stratum, int] = {}
        for group in self.groups:
            for stratum, count in group.strata.items():
                largest[stratum] = max(largest.get(stratum, 0), count)
        return largest

    def ids(self, split: Split) -> dict[str, list[RequestId]]:
        """The ids in a split by shape, without repetition, sorted as texts."""
        ids_by_shape: dict[str, dict[RequestId, None]] = {shape: {} for shape in SHAPES}
        for group, name in zip(self.groups, self.splits, strict=True):
            if name == split:
                for member in group.members:
                    ids_by_shape[member.stratum.shape][member.id] = None
        return {shape: sorted(ids, key=str) for shape, ids in ids_by_shape.items()}


# The version of the file format, which the signature names.
FORMAT = 1
MADE_BY = "toolassay split"


@dataclass(frozen=True)
class SplitFile:
    """The split of each id. Ids are compared as text: 1 equals "1".

    Attributes:
        path: the file.
        split_of: the split of each id in the file.
        rest: the split of all other ids: "train" for the published files, which list only the test ids; None
            if the file lists all ids.
        signature: the settings and the data of the split, in one line.
    """

    path: Path
    split_of: Mapping[str, Split]
    rest: Split | None
    signature: str

    @classmethod
    def load(cls, path: Path) -> SplitFile:
        """Read a split file, ours or a published one.

        Raises:
            UsageError: the file is missing or malformed, or has an id in two splits.
        """
        written = WrittenSplits.load(path)
        split_of = dict[str, Split]()
        named_splits = [split for split in SPLITS if written.ids(split) is not None]
        if not named_splits:
            raise UsageError("names no split", file=path, fix=made_by("split"))
        for split in named_splits:
            for name in written.ids(split) or ():
                if split_of.setdefault(str(name), split) != split:
                    raise UsageError(
                        f"has '{name}' in {split_of[str(name)]} and in {split}",
                        file=path,
                        fix=f"remove '{name}' from one of the two lists",
                    )
        return cls(
            path, split_of, None if "train" in named_splits else "train", written.signature or path.name
        )

    def split(self, request_id: RequestId) -> Split | None:
        """The split of a request; None if the file does not list it and has no `rest`."""
        return self.split_of.get(str(request_id), self.rest)


def write_splits(path: Path, splitting: Splitting, *, force: bool = False) -> Path | None:
    """Write a split file.

    Args:
        path: the file.
        splitting: the splits to write.
        force: replace a file that `toolassay split` did not write or that was edited, keeping a dated copy.

    Returns:
        The dated copy; None if no file was replaced by force.

    Raises:
        UsageError: `path` is a folder, or needs `force`.
    """
    copy = None
    if path.is_dir():
        raise UsageError("is a folder, a file is needed", file=path, fix="pass a file with --out")
    if path.exists() and not _is_ours(path):
        if not force:
            raise UsageError(
                f"was not written by {as_called('split')}, or was edited since",
                file=path,
                fix="pass another file with --out, or use --force true (keeps a dated copy)",
            )
        copy = keep_dated_copy(path)
    train, dev, test = map(splitting.ids, SPLITS)
    written = WrittenSplits(
        made_by=MADE_BY,
        signature=signature(splitting),
        seed=splitting.seed,
        shares=dict(splitting.shares),
        hold_out_tools=splitting.hold_out,
        near=splitting.near,
        train_ids=train,
        dev_ids=dev,
        test_ids=test,
    )
    write_json(path, msgspec.to_builtins(msgspec.structs.replace(written, sha256=_digest(written))))
    return copy


def signature(splitting: Splitting) -> str:
    """The settings of the splits and a hash of their groups, in one line."""
    shares = "/".join(f"{splitting.shares.get(split, 0):g}" for split in SPLITS)
    data = hashlib.sha256()
    for group in splitting.groups:
        names = [group.name, *(str(member.id) for member in group.members)]
        data.update(json.dumps(names).encode())
    held = f"|hold_out:{','.join(splitting.hold_out)}" if splitting.hold_out else ""
    near = "none" if splitting.near is None else f"{splitting.near:g}"
    settings = f"shares:{shares}|seed:{splitting.seed}|near:{near}{held}"
    return f"split|format:{FORMAT}|{settings}|data:{data.hexdigest()[:16]}|version:{__version__}"


def _is_ours(path: Path) -> bool:
    """Whether `write_splits` wrote the file and its ids are unchanged since."""
    try:
        written = WrittenSplits.load(path)
    except UsageError:
        return False
    return written.made_by in (MADE_BY, f"{OLD_NAME} split") and written.sha256 == _digest(written)


def _digest(written: WrittenSplits) -> str:
    ids = {f"{split}_ids": getattr(written, f"{split}_ids") for split in SPLITS}
    return hashlib.sha256(json.dumps(ids, sort_keys=True).encode()).hexdigest()
