"""100,000 requests searched for duplicates: time, memory, and what is found of those that were planted.

    python -m measurements.deduplication [--requests 100000] [--rival 10000] [--seed 0]
    python -m measurements.deduplication --found data_huggingface data_multimedia data_dailylifeapis

Requests are recombined from the sentences of the project's own data sets; one in twenty is planted: a copy
of an earlier request, as it is or changed in one of six ways, with the plan of the original. Each row is a
process of its own. The rival is the loop that distilabel's MinHashDedup and many scripts are made of: a
MinHash of each text, updated with every shingle, asked for and put into a MinHashLSH of datasketch. "Met" is
the share of the pairs found by comparing a sample of requests with all others. Limits: 60 seconds, 1 GB, 97 %
of what was planted.

`--found` says which duplicates are found in whole data sets: each request is said again in one way and put at
the end, with the plan of the original, and without plans. "Clean" is the share held back before that.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.plans.gold import Gold
from toolassay.records.dataset import read_labels
from toolassay.variety.near_duplicates import (
    NO_PLAN,
    Item,
    PlanDigest,
    Thresholds,
    content,
    find_repeats,
    jaccard,
    shingles,
)

SECONDS = 60.0
MEGABYTES = 1_000.0
FOUND = 0.97
PLANTED = 20
FOLDERS = ("data_huggingface", "data_multimedia", "data_dailylifeapis")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SYNONYMS = {
    "picture": "image", "image": "picture", "photo": "snapshot", "make": "create", "find": "locate",
    "show": "display", "give": "provide", "then": "next", "finally": "lastly", "text": "passage",
    "answer": "reply", "question": "query", "convert": "transform", "clip": "video", "file": "document",
    "send": "dispatch", "book": "reserve", "write": "compose", "tell": "inform", "based": "relying",
    "about": "regarding", "buy": "purchase", "friend": "pal", "colleague": "coworker", "need": "require",
}  # fmt: skip
_LONG = {"I'm": "I am", "I'd": "I would", "I've": "I have", "don't": "do not", "it's": "it is"}


class Request(NamedTuple):
    """A request with the digests of its plan."""

    key: str | int
    request: str
    plan: PlanDigest = NO_PLAN

    @property
    def item(self) -> Item:
        """What the search keeps of it."""
        return Item.from_request(self.key, self.request, self.plan)


def plant(kind: str, text: str, chance: random.Random) -> str:
    """A near duplicate of a request."""
    if kind == "spelling":
        return chance.choice([text.upper(), text.lower(), text.replace(",", ""), text.replace(" ", "  ")])
    if kind == "courtesy":
        opening = chance.choice(["Hello, could you please help me with this? ", "Hi there! ", "Please: "])
        return opening + text + chance.choice(["", " Thanks!", " Thank you very much in advance."])
    if kind == "synonym":
        parts = text.split(" ")
        places = [place for place, part in enumerate(parts) if part.lower() in _SYNONYMS]
        for place in chance.sample(places, min(2, len(places))):
            parts[place] = _SYNONYMS[parts[place].lower()]
        return " ".join(parts)
    if kind == "order":
        sentences = _SENTENCE.split(text)
        return " ".join(chance.sample(sentences, len(sentences)))
    if kind == "typo":
        place = chance.randrange(len(text) - 1)
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    for short, long in _LONG.items():
        text = text.replace(short, long)
    return text


KINDS = ("exact", "spelling", "courtesy", "synonym", "order", "typo", "short form")


def requests(count: int, seed: int) -> Iterator[Request]:
    """The requests; the key of a planted one names its kind."""
    chance = random.Random(seed)
    openings, bodies = [], []
    for folder in FOLDERS:
        for line in Path(folder, "data.json").read_text(encoding="utf-8").splitlines():
            first, *rest = _SENTENCE.split(json.loads(line)["user_request"])
            openings.append(first)
            bodies += rest
    earlier: list[Request] = []
    for number in range(count):
        if number % PLANTED == PLANTED - 1:
            kind, original = chance.choice(KINDS), chance.choice(earlier)
            text = original.request if kind == "exact" else plant(kind, original.request, chance)
            yield Request(f"{kind}:{number}", text, original.plan)
            continue
        words = [chance.choice(openings), *chance.sample(bodies, chance.randint(1, 5))]
        item = Request(number, " ".join(words), PlanDigest(chance.randrange(1, 1000), number + 1))
        if len(earlier) < 10_000:
            earlier.append(item)
        yield item


def ours(count: int, seed: int) -> dict[str, Any]:
    """Search as the gate does."""
    began, used = time.perf_counter(), time.process_time()
    repeats = find_repeats(one.item for one in requests(count, seed))
    row: dict[str, Any] = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - used}
    return {**row, "megabytes": _megabytes(), **_found(set(repeats.held_back), count)}


def plain_loop(count: int, seed: int) -> dict[str, Any]:
    """A MinHash and a hash table of bands; what it says is not made sure of."""
    from datasketch import MinHash, MinHashLSH

    began, used = time.perf_counter(), time.process_time()
    index = MinHashLSH(threshold=Thresholds().threshold, num_perm=256)
    held = set()
    for item in requests(count, seed):
        sketch = MinHash(num_perm=256)
        for shingle in shingles(content(item.request)):
            sketch.update(shingle.encode())
        if index.query(sketch):
            held.add(item.key)
        index.insert(item.key, sketch)
    row: dict[str, Any] = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - used}
    return {**row, "megabytes": _megabytes(), **_found(held, count)}


def _found(held: set[str | int], count: int) -> dict[str, Any]:
    """Of what was planted, and of the rest."""
    planted = count // PLANTED
    found = sum(isinstance(key, str) for key in held)
    return {"found": found / planted, "false": (len(held) - found) / (count - planted)}


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def met(count: int, seed: int, sample: int = 100) -> float:
    """The share of the near pairs of some requests, known by comparing each with all, that are found."""
    items = [Request(number, item.request) for number, item in enumerate(requests(count, seed))]
    bars = Thresholds()
    chosen = random.Random(seed).sample(range(PLANTED - 1, count, PLANTED), sample)
    sets = {place: shingles(content(items[place].request)) for place in chosen}
    wanted = set()
    for number, item in enumerate(items):
        other = shingles(content(item.request))
        wanted |= {
            tuple(sorted((place, number)))
            for place, own in sets.items()
            if number != place
            and min(len(own), len(other)) >= bars.threshold * max(len(own), len(other))
            and jaccard(own, other) >= bars.of("other")
        }
    near = find_repeats(one.item for one in items)
    clusters = {key: number for number, cluster in enumerate(near.clusters()) for key in cluster}
    together = [clusters.get(one, -1) == clusters.get(other, -2) for one, other in wanted]
    return sum(together) / len(together)


def said_again(items: list[Request], kind: str, seed: int) -> tuple[int, int]:
    """How many requests said again are held back, and how many there are; those not changed do not count."""
    chance = random.Random(seed)
    again = []
    for item in items:
        text = item.request if kind == "exact" else plant(kind, item.request, chance)
        if kind == "exact" or text != item.request:
            again.append(Request(f"again {item.key}", text, item.plan))
    held = find_repeats(one.item for one in [*items, *again]).held_back
    return sum(item.key in held for item in again), len(again)


def print_found(folders: list[Path], seed: int) -> None:
    """The table of what is found in data sets."""
    print(f"| data set | plans | requests | clean | {' | '.join(KINDS)} |")
    print(f"| --- | --- | {' | '.join(['---:'] * (2 + len(KINDS)))} |")
    for folder in folders:
        labels = folder / "data.json" if (folder / "data.json").exists() else folder / "user_requests.json"
        golds = [Gold.of(record, line) for line, record in read_labels(labels)]
        planned = [Request(gold.line, gold.request, PlanDigest.of(gold)) for gold in golds]
        for plans in ("known", "unknown"):
            items = planned
            if plans == "unknown":
                items = [item._replace(plan=NO_PLAN) for item in planned]
            elif not any(item.plan.whole for item in planned):
                continue
            clean = len(find_repeats(one.item for one in items).held_back) / len(items)
            shares = [f"{met / of:.1%}" for met, of in (said_again(items, kind, seed) for kind in KINDS)]
            numbers = f"{len(items):,} | {clean:.2%} | {' | '.join(shares)}"
            print(f"| {folder.name} | {plans} | {numbers} |", flush=True)


WAYS = {"toolassay": ours, "datasketch loop": plain_loop}


def measure(way: str, count: int, seed: int) -> dict[str, Any]:
    """One row, measured in a new process."""
    command = [sys.executable, "-m", "measurements.deduplication", "--row", way, str(count), str(seed)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    row: dict[str, Any] = json.loads(output)
    return row


def main() -> int:
    """Print the table; the exit code says whether the limits were kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--rival", type=int, default=10_000, help="how many the rivals get")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", nargs="+", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--row", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.found:
        print_found(options.found, options.seed)
        return 0
    if options.row:
        way, count, seed = options.row
        print(json.dumps(WAYS[way](int(count), int(seed))))
        return 0
    print("| way | requests | seconds | CPU seconds | peak MB | planted found | others held back |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    rows = {}
    for way, count in [*((way, options.rival) for way in WAYS), ("toolassay", options.requests)]:
        try:
            row = rows[way, count] = measure(way, count, options.seed)
        except subprocess.CalledProcessError as error:
            print(f"| {way} | {count:,} | {error.stderr.strip().splitlines()[-1]} |")
            continue
        numbers = f"{row['seconds']:.1f} | {row['cpu']:.1f} | {row['megabytes']:,.0f}"
        print(f"| {way} | {count:,} | {numbers} | {row['found']:.1%} | {row['false']:.2%} |", flush=True)
    rival = rows["datasketch loop", options.rival]["seconds"] / rows["toolassay", options.rival]["seconds"]
    print(f"\n{rival:.0f} times as fast as the loop on {options.rival:,} requests.")
    share = met(options.rival, options.seed)
    print(f"Met, of the pairs of 100 requests with all of {options.rival:,}: {share:.1%}.")
    row = rows["toolassay", options.requests]
    kept = row["seconds"] <= SECONDS and row["megabytes"] <= MEGABYTES and row["found"] >= FOUND
    print(f"Limits of {SECONDS:.0f} s, {MEGABYTES:,.0f} MB and {FOUND:.0%} {'kept' if kept else 'NOT kept'}.")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
