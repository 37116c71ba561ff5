"""Exact and near duplicates among requests: similarity thresholds, the search, and the pairs it finds.

MinHash signatures (Broder 1997; datasketch) with locality-sensitive hashing propose pairs (Leskovec and
others, Mining of Massive Datasets, chapter 3). The true Jaccard similarity of their shingles decides. Bands
are searched one by one: datasketch's MinHashLSH holds all of them, which is ten kilobytes per request.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import regex
from networkx.utils import UnionFind

from toolassay.errors import UsageError
from toolassay.evaluation.line_index import CompactTexts
from toolassay.plans.gold import Gold
from toolassay.plans.normalised_plan import REFERENCE
from toolassay.tools.output_paths import parse_reference, path_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from datasketch import MinHash


# Scripts without blanks between words: each letter counts as a word.
_ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]"
# A run of letters, marks and digits: all of "café2", two words in "a_b", two in "图片".
_WORD = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+")
# Likewise, with apostrophes inside: one word in "don't", but not the quotation marks of "'crop'".
_SPOKEN = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+(?:'[\p{{L}}\p{{M}}]+)*")
# Words, and signs that carry meaning: the "#" of "C#", the "+" of "3 + 5", the "-" of "-5", the "$" of "$ 5".
# Not other punctuation, nor the hyphen of "a-b".
_WORD_OR_SIGN = regex.compile(
    r"[\p{L}\p{M}\p{N}]+|[\p{Sm}\p{Sc}\p{So}%#&*/@\\]|(?<![\p{L}\p{N}])[-−](?=\p{N})"
)
# The blank of "1 5", which must stay so that 1.5 and 15 differ; not that of "add 1".
_BETWEEN_FIGURES = re.compile(r"(?<=\d) (?=\d)")
# A digit of any script.
_FIGURE = re.compile(r"\d")
# Format characters, such as the zero-width space.
_UNSEEN = regex.compile(r"\p{Cf}")
# The characters that people type for the apostrophe of "it's"; not quotation marks such as “.
_APOSTROPHE = re.compile("[’‘ʼ`´]")
# Words that phrase a request and say nothing about its subject: "could you please …, thank you in advance".
_COURTESY = frozenset(Path(__file__).with_name("courtesy.txt").read_text(encoding="utf-8").split())


def plain(text: str) -> str:
    """A text with case folded, in Unicode form NFKC, without invisible format characters.

    >>> plain("ＣＡＦÉ\u200b")
    'café'
    """
    if text.isascii():
        return text.casefold()
    # Folded before and after: some folded letters have a shorter form, some forms fold further.
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", unicodedata.normalize("NFKC", text).casefold()))


def exact_form(text: str) -> str:
    """A text without case, punctuation, blanks and Unicode variants.

    Two requests are *exact* duplicates if this is equal. Numbers stay separate, and signs that carry meaning
    stay: "1.5" differs from "15", and "C#" from "C".

    >>> exact_form("Please,  crop EXAMPLE.jpg!") == exact_form("please crop “example.jpg”")
    True
    >>> exact_form("add 1.5"), exact_form("add -15"), exact_form("?!")
    ('add1 5', 'add-15', '?!')
    """
    folded = plain(text)
    parted = _BETWEEN_FIGURES.sub("\0", " ".join(_WORD_OR_SIGN.findall(folded)))
    return parted.replace(" ", "").replace("\0", " ") or "".join(folded.split())


def words(text: str) -> list[str]:
    """The words of a text in order, with case folded; a contraction is one word.

    >>> words("Don’t crop example.jpg!")
    ["don't", 'crop', 'example', 'jpg']
    """
    spoken: list[str] = _SPOKEN.findall(_APOSTROPHE.sub("'", plain(text)))
    return spoken


def content(text: str) -> str:
    """The content words of a request in order, words of courtesy left out.

    Requests are *near* duplicates if these are similar. The words left out are English; a text without
    content words keeps all its words.

    >>> content("Hello! Could you please crop the photo? I don't need it bigger. Thank you very much!")
    'crop photo don t bigger'
    """
    content_words: list[str] = _WORD.findall(plain(text))
    return " ".join(
        [word for word in content_words if word not in _COURTESY] or content_words or [exact_form(text)]
    )


def sorted_digits(text: str) -> str:
    """The digits of a text, sorted, so that neither their order nor their grouping matters.

    >>> sorted_digits("on 2026-07-22"), sorted_digits("20260722 it is")
    ('00222267', '00222267')
    """
    return "".join(sorted(_FIGURE.findall(text)))


class PlanDigest(NamedTuple):
    """Two digests of a plan, each 0 if unknown.

    Attributes:
        tools: digest of the tools that it calls, independent of their order.
        whole: digest of its tools, values and links, independent of order and of the spelling of values.
    """

    tools: int = 0
    whole: int = 0

    @classmethod
    def of(cls, gold: Gold) -> PlanDigest:
        """The digests of a label's plan; `whole` is unknown if the plan has no arguments.

        >>> def plan(*values):
        ...     nodes = [{"task": "crop", "arguments": [value]} for value in values]
        ...     return PlanDigest.of(Gold.of({"id": 1, "task_nodes": nodes}))
        >>> plan("a.jpg", "b.jpg") == plan("B.jpg", "a.jpg")
        True
        >>> plan("a.jpg").tools == plan("c.jpg").tools, plan("a.jpg").whole == plan("c.jpg").whole
        (True, False)
        """
        if not gold.nodes:
            return NO_PLAN
        tools = digest(sorted(node.tool for node in gold.nodes))
        if not gold.has_arguments:
            return cls(tools)
        tools_by_place = {node.place: node.tool for node in gold.nodes}
        calls = sorted(
            [node.tool, sorted(_value(argument, tools_by_place) for argument in node.arguments or ())]
            for node in gold.nodes
        )
        return cls(tools, digest([calls, sorted(gold.links)]))


NO_PLAN = PlanDigest()


def digest(value: Any) -> int:
    """A hash of 64 bits for a JSON value: never 0, and equal in every process."""
    text = json.dumps(value, ensure_ascii=True)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") or 1


def _value(argument: Any, tools_by_place: dict[int, str]) -> str:
    if isinstance(argument, dict):
        return f"{argument.get('name')}={_text(argument.get('value'), tools_by_place)}"
    return _text(argument, tools_by_place)


def _text(value: Any, tools_by_place: dict[int, str]) -> str:
    """A value as text, in which a reference names its tool and the keys of objects are sorted."""
    reference = parse_reference(value) if isinstance(value, str) else None
    if reference is not None:
        return f"<{tools_by_place.get(reference.node)}>{path_text(reference.path)}"
    if isinstance(value, str):
        return exact_form(value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return exact_form(REFERENCE.sub(lambda reference: f"<{tools_by_place.get(int(reference[1]))}>", text))


DEFAULT_THRESHOLD = 0.6
"""Least Jaccard similarity of near duplicates; chosen on the published data sets (docs/variety.md)."""
SAME_PLAN_DISCOUNT = 0.1
"""Subtracted from the threshold for two requests with the same plan."""
OTHER_PLAN_SURCHARGE = 0.15
"""Added to the threshold for two requests with different plans, up to halfway between it and 1."""

Plans = Literal["same", "other", "unknown"]
_PLANS: tuple[Plans, ...] = ("unknown", "other", "same")  # arrays hold the index
Key = str | int


@dataclass(frozen=True)
class Thresholds:
    """The least Jaccard similarity at which two requests are near duplicates.

    It is lower for two requests with the same plan (tools, links and values), and higher for two with
    different plans, or with different numbers if a plan is unknown: a request for other tools or other values
    tests something else.

    Attributes:
        threshold: the least similarity for unknown plans, from 0.2 to 1.

    >>> Thresholds(0.6).of("same"), Thresholds(0.6).of("unknown"), Thresholds(0.6).of("other")
    (0.5, 0.6, 0.75)

    Raises:
        UsageError: the threshold is below 0.2 or above 1.
    """

    threshold: float = DEFAULT_THRESHOLD

    def __post_init__(self) -> None:
        if not 0.2 <= self.threshold <= 1:
            raise UsageError(
                f"--threshold {self.threshold:g} is not between 0.2 and 1",
                fix=f"write --threshold {DEFAULT_THRESHOLD}, or more for fewer duplicates",
            )

    def of(self, plans: Plans) -> float:
        """The least similarity of two requests whose plans are the same, different, or not both known."""
        if plans == "same":
            return round(self.threshold - SAME_PLAN_DISCOUNT, 9)
        if plans == "other":
            return round(min(self.threshold + OTHER_PLAN_SURCHARGE, (1 + self.threshold) / 2), 9)
        return self.threshold


_SHINGLE = 4  # characters in a shingle; docs/variety.md says why
_PERMUTATIONS = 128
"""Length of a signature: the standard error of an estimated similarity is at most 0.5 / √128 = 0.044."""
SEED = 1
"""Seed of the permutations; fixed, so that every process finds the same candidates."""
_SLACK = 0.14
"""Three standard errors: an estimate is lower than the true similarity by more in one of 1,000 pairs."""
_RECALL = 0.97
"""Least probability that a pair whose similarity is the threshold becomes a candidate."""
_CROWD = 64
"""Of a larger group of similar requests, each is compared with the first 64 and 64 of those before it."""
_BATCH = 1 << 16  # candidate pairs whose signatures are compared at once


def shingles(text: str) -> frozenset[str]:
    """The runs of four characters in a text that is padded with one blank on each side.

    >>> sorted(shingles("crop"))
    [' cro', 'crop', 'rop ']
    """
    padded = f" {text} "
    return frozenset(
        padded[position : position + _SHINGLE] for position in range(max(1, len(padded) - _SHINGLE + 1))
    )


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """The Jaccard similarity of two sets of shingles: shared over all.

    >>> jaccard(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


@lru_cache(maxsize=1)
def _sketch() -> MinHash:
    from datasketch import MinHash  # late: it loads SciPy

    return MinHash(num_perm=_PERMUTATIONS, seed=SEED, hashfunc=int)


def signature(text: str) -> bytes:
    """The MinHash signature of a text's shingles, `_PERMUTATIONS` numbers of 32 bits."""
    import numpy as np

    letters = np.frombuffer(f" {text:2} ".encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    numbers = np.zeros(len(letters) - _SHINGLE + 1, np.uint64)
    for position in range(_SHINGLE):
        numbers = (numbers << np.uint64(16)) ^ letters[position : position + len(numbers)]
    # 2^64 divided by the golden ratio: multiplicative hashing (Knuth) spreads similar shingles.
    hashes = numbers * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)
    sketch = _sketch()
    sketch.clear()
    sketch.update_batch(hashes.tolist())
    return bytes(sketch.hashvalues.astype(np.uint32).tobytes())


def rows_per_band(threshold: float) -> int:
    """The largest number of rows in a band that still finds a pair at the threshold with 97 %.

    A pair of similarity s agrees in one of b bands of r rows with probability 1 - (1 - s^r)^b.

    >>> rows_per_band(0.6), rows_per_band(0.9)
    (4, 11)
    """
    return max(
        (
            rows
            for rows in range(1, _PERMUTATIONS + 1)
            if 1 - (1 - threshold**rows) ** (_PERMUTATIONS // rows) >= _RECALL
        ),
        default=1,
    )


class Item(NamedTuple):
    """What the search keeps of a request; another process may compute it.

    Attributes:
        key: identifies the request in results: the line of its label, or its id.
        content: the content words, of which near duplicates share many; empty for a request without words.
        words: digest of all words, which are the same in exact duplicates; 0 without words.
        figures: digest of the digits.
        plan: digests of the plan.
        signature: MinHash of the content.
    """

    key: Key
    content: str
    words: int
    figures: int
    plan: PlanDigest
    signature: bytes

    @classmethod
    def of(cls, gold: Gold) -> Item:
        """The item of a label; its key is its line or, without a line, its id."""
        return cls.from_request(gold.line or gold.id, gold.request, PlanDigest.of(gold))

    @classmethod
    def from_request(cls, key: Key, request: str, plan: PlanDigest = NO_PLAN) -> Item:
        """The item of a request in the user's words; by default its plan is unknown."""
        form = exact_form(request)
        text = content(request) if form else ""
        return cls(key, text, digest(form) if form else 0, digest(sorted_digits(form)), plan, signature(text))


class DuplicatePair(NamedTuple):
    """Two requests that repeat each other.

    Attributes:
        later: index of the later request, from 0 in the order given.
        earlier: index of the earlier request.
        similarity: the Jaccard similarity of their shingles; 1 for exact duplicates.
        exact: whether the words are the same.
        plans: how their plans relate.
    """

    later: int
    earlier: int
    similarity: float
    exact: bool
    plans: Plans


class Repeats:
    """The repeated requests of a set.

    Attributes:
        held_back: the requests that repeat an earlier one, by key, each with the most similar earlier one.
            An exact duplicate is always held back; a near duplicate only if the earlier request is kept, so
            that every second one of a chain of similar requests is kept.
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        self._keys = keys
        self._sets: UnionFind[int] = UnionFind()
        self.held_back: dict[Key, DuplicatePair] = {}

    def add(self, matches: Iterable[DuplicatePair]) -> None:
        """Add all matches of one request, after those of earlier ones."""
        for match in sorted(matches, key=lambda pair: (not pair.exact, -pair.similarity, pair.earlier)):
            self._sets.union(match.earlier, match.later)
            if match.exact or self._keys[match.earlier] not in self.held_back:
                self.held_back.setdefault(self._keys[match.later], match)

    def clusters(self) -> list[list[Key]]:
        """The keys of requests that matches connect, directly or through others; one list per component."""
        clusters = sorted(sorted(positions) for positions in self._sets.to_sets())
        return [[self._keys[position] for position in positions] for positions in clusters]


def find_repeats(
    items: Iterable[Item],
    *,
    against: Iterable[Item] | None = None,
    thresholds: Thresholds | None = None,
) -> Repeats:
    """Find the requests that repeat one another, or that repeat one of another set.

    Exact duplicates have the same words (`exact_form`). Candidates for near duplicates are requests with the
    same plan, and requests whose MinHash signatures agree in a band. A candidate pair is a match if the true
    Jaccard similarity of its shingles reaches its threshold.

    Args:
        items: the requests, in order. A request without words repeats nothing.
        against: another set. If given, each pair has one request of each set.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.

    Returns:
        The pairs. With `against`, the indices of the other set come first.

    >>> found = find_repeats(map(Item.from_request, "abc", ["Crop a.jpg", "crop a.jpg!", "Cut b.jpg"]))
    >>> [(key, match.exact) for key, match in found.held_back.items()]
    [('b', True)]
    """
    return _Search(against or (), items, thresholds or Thresholds()).repeats()


class _Search:
    """What memory holds of each request, and the search over it."""

    def __init__(self, against: Iterable[Item], items: Iterable[Item], thresholds: Thresholds) -> None:
        import numpy as np

        self._thresholds = thresholds
        self._keys = list[Key]()
        self._texts = CompactTexts()
        numbers = array("Q")
        signatures = bytearray()
        self._boundary = 0
        for part in (against, items):
            self._boundary = len(self._keys)
            for item in part:
                self._keys.append(item.key)
                self._texts.append(item.content)
                signatures += item.signature
                numbers.extend((item.words, item.figures, item.plan.tools, item.plan.whole))
        columns = np.frombuffer(numbers.tobytes(), np.uint64).reshape(-1, 4)
        self._words, self._figures, self._tools, self._whole = columns.T
        self._signatures = np.frombuffer(signatures, np.uint32).reshape(-1, _PERMUTATIONS)

    def repeats(self) -> Repeats:
        import numpy as np

        repeats = Repeats(self._keys)
        exact, positions = self._exact()
        pairs = np.unique(np.concatenate([exact, *self._near(positions)]))
        plans = self._plans(pairs & np.uint64(0xFFFFFFFF), pairs >> np.uint64(32))
        shingled = lru_cache(8_192)(lambda position: shingles(self._texts[position]))

        def matches(group: Iterable[tuple[int, int]]) -> Iterator[DuplicatePair]:
            for pair, code in group:
                later, earlier = divmod(pair, 1 << 32)
                is_exact = bool(self._words[later] == self._words[earlier])
                similarity = 1.0 if is_exact else jaccard(shingled(later), shingled(earlier))
                if is_exact or similarity >= self._thresholds.of(_PLANS[code]):
                    yield DuplicatePair(later, earlier, similarity, is_exact, _PLANS[code])

        coded = zip(pairs.tolist(), plans.tolist(), strict=True)
        for _, group in groupby(coded, key=lambda code: code[0] >> 32):
            repeats.add(matches(group))
        return repeats

    def _exact(self) -> tuple[npt.NDArray[np.uint64], list[int]]:
        """The pairs of requests with the same words, and the requests to compare further."""
        import numpy as np

        first: dict[int, int] = {}
        pairs = array("Q")
        positions = []
        for position, words in enumerate(self._words.tolist()):
            if words and words not in first:
                positions.append(position)
                if not self._boundary or position < self._boundary:
                    first[words] = position
            elif words and position >= self._boundary:
                pairs.append(position << 32 | first[words])
        return np.frombuffer(pairs.tobytes(), np.uint64), positions

    def _near(self, positions: Sequence[int]) -> Iterator[npt.NDArray[np.uint64]]:
        """Pairs that may be near duplicates, for each way to propose them."""
        rows = rows_per_band(self._thresholds.threshold)
        yield from self._likely(
            [self._whole[position].tobytes() for position in positions], positions, b"\0" * 8
        )
        for start in range(0, _PERMUTATIONS - rows + 1, rows):
            band = self._signatures[:, start : start + rows]
            yield from self._likely([band[position].tobytes() for position in positions], positions, b"")

    def _likely(
        self, buckets: Sequence[bytes], positions: Sequence[int], unknown: bytes
    ) -> Iterator[npt.NDArray[np.uint64]]:
        """Pairs of one bucket whose signatures are similar."""
        members: dict[bytes, list[int]] = {}
        later = array("q")
        earlier = array("q")
        for position, bucket in zip(positions, buckets, strict=True):
            if bucket == unknown:
                continue
            row = members.setdefault(bucket, [])
            if position >= self._boundary:
                earlier.extend(row)
                later.extend([position] * len(row))
            if position < self._boundary or not self._boundary:
                spot = len(row) if len(row) < 2 * _CROWD else _CROWD + position % _CROWD
                row[spot : spot + 1] = [position]
            if len(later) > _BATCH:
                yield self._similar(later, earlier)
                later = array("q")
                earlier = array("q")
        yield self._similar(later, earlier)

    def _similar(self, later: array[int], earlier: array[int]) -> npt.NDArray[np.uint64]:
        import numpy as np

        first, second = (np.array(positions, np.int64) for positions in (earlier, later))
        least = (
            np.array([self._thresholds.of(plans) for plans in _PLANS])[self._plans(first, second)] - _SLACK
        )
        shared = (self._signatures[first] == self._signatures[second]).mean(axis=1)
        first, second = (positions[shared >= least].astype(np.uint64) for positions in (first, second))
        return np.unique(second << np.uint64(32) | first)

    def _plans(self, first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
        """For each pair, how the two plans relate, as an index into `_PLANS`; 0 stands for unknown."""
        import numpy as np

        whole, tools, figures = (
            (column[first] == column[second], (column[first] != 0) & (column[second] != 0))
            for column in (self._whole, self._tools, self._figures)
        )
        differ = np.where(whole[1], ~whole[0], ~figures[0]) | (tools[1] & ~tools[0])
        return np.where(whole[0] & whole[1], 2, differ).astype(np.int8)
