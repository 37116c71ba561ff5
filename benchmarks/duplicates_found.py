"""Which duplicates are found, by how a request was said again, and what is held back without any.

    python -m benchmarks.duplicates_found [DATA_FOLDER ...] [--seed 0]

Each request of a data set is said again in one way and put at the end: with the plan of the original, and
without plans. "Clean" is the share that is held back before anything is added.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from benchmarks.deduplication import FOLDERS, KINDS, plant
from toolgraph.dataset import read_labels
from toolgraph.gold import Gold
from toolgraph.variety import Item, PlanDigest, find_repeats


def found(items: list[Item], kind: str, seed: int) -> tuple[int, int]:
    """How many requests said again are held back, and how many there are; those not changed do not count."""
    chance = random.Random(seed)
    again = []
    for item in items:
        text = item.request if kind == "exact" else plant(kind, item.request, chance)
        if kind == "exact" or text != item.request:
            again.append(Item(f"again {item.key}", text, item.plan))
    held = find_repeats([*items, *again]).held_back()
    return sum(item.key in held for item in again), len(again)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(folder) for folder in FOLDERS])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"| data set | plans | requests | clean | {' | '.join(KINDS)} |")
    print(f"| --- | --- | {' | '.join(['---:'] * (2 + len(KINDS)))} |")
    for folder in options.folders:
        labels = folder / "data.json" if (folder / "data.json").exists() else folder / "user_requests.json"
        planned = [Item.of(Gold.of(record, line)) for line, record in read_labels(labels)]
        for plans in ("known", "unknown"):
            items = planned
            if plans == "unknown":
                items = [item._replace(plan=PlanDigest()) for item in planned]
            elif not any(item.plan.whole for item in planned):
                continue
            clean = len(find_repeats(items).held_back()) / len(items)
            shares = [f"{met / of:.1%}" for met, of in (found(items, kind, options.seed) for kind in KINDS)]
            numbers = f"{len(items):,} | {clean:.2%} | {' | '.join(shares)}"
            print(f"| {folder.name} | {plans} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
