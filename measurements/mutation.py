"""Mutation testing: which changes of the code the tests notice, on a seeded sample of mutants.

Run with: python -m measurements.mutation --seed 1 [--names FILE [--again | --read]] [--children 1]

mutmut makes the mutants and runs the tests of each, as `[tool.mutmut]` in pyproject.toml says. This script
draws the sample (as many mutants of each subject), passes their names to `mutmut run`, and prints the table
and the figures of docs/measurements-scores.md. It needs requirements-dev.txt and a system with fork.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.file_utils import walk_mutatable_files
from mutmut.utils.format_utils import get_mutant_name

SUBJECTS = {
    "dates": ("toolassay.text_values.*", "toolassay.offline.*", "toolassay.benchmarks.*"),
    "limiter": ("toolassay.models.*",),
    "budget": ("toolassay.runs.budget.*", "toolassay.runs.recorded_usage.*"),
    "ledger": ("toolassay.runs.ledger.*",),
    "paired tests": ("toolassay.metrics.*",),
    "sampling": ("toolassay.sampling.*",),
}
# As mutmut calls them. A time-out is no kill: on a busy machine the tests may only be slow.
RESULTS = ("killed", "timeout", "survived", "no tests")


def mutants_by_subject() -> dict[str, list[str]]:
    """The names of all mutants, by subject, in the order of the code."""
    found: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for path in sorted(walk_mutatable_files()):
        names = mutate_file_contents(str(path), path.read_text()).mutant_names
        for name in (get_mutant_name(path, name) for name in names):
            found[subject_of(name)].append(name)
    return found


def subject_of(name: str) -> str:
    """The subject that a mutant belongs to."""
    return next(subject for subject, rooms in SUBJECTS.items() if any(fnmatch(name, room) for room in rooms))


def sample(mutants: dict[str, list[str]], size: int, seed: int) -> list[str]:
    """Names drawn from each subject in equal numbers; the first subjects get what is left over."""
    each, more = divmod(size, len(mutants))
    chosen = []
    for place, (subject, names) in enumerate(mutants.items()):
        rng = random.Random(f"{seed} {subject}")
        chosen += rng.sample(names, min(len(names), each + (place < more)))
    return chosen


def statuses() -> dict[str, str]:
    """What became of each mutant, as mutmut keeps it in `mutants/`."""
    shown = mutmut("results", "--all", "true", capture=True)
    pairs = (line.strip().rsplit(": ", 1) for line in shown.splitlines() if ": " in line)
    return {pair[0]: pair[1] for pair in pairs}


def mutated_lines(name: str) -> str:
    """What a mutant changes: the lines taken out and put in."""
    lines = mutmut("show", name, capture=True).splitlines()
    changed = [line for line in lines if line[:1] in "+-" and not line.startswith(("---", "+++"))]
    return "  ".join(f"{line[0]} {line[1:].strip()}" for line in changed)


def mutmut(*arguments: str, capture: bool = False) -> str:
    """Run mutmut; its output, where it is captured.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    command = [sys.executable, "-m", "mutmut", *arguments]
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE if capture else None)
    return done.stdout or ""


def print_table(found: dict[str, str]) -> None:
    """Print how many mutants of each subject have each result."""
    print(f"| subject | mutants | {' | '.join(RESULTS)} |")
    print(f"| --- | ---: {'| ---: ' * len(RESULTS)}|")
    counts = {subject: Counter[str]() for subject in SUBJECTS}
    for name, told in found.items():
        counts[subject_of(name)][told] += 1
    for subject, count in (*counts.items(), ("all", sum(counts.values(), Counter[str]()))):
        cells = (count.total(), *(count[result] for result in RESULTS))
        print(f"| {subject} | {' | '.join(map(str, cells))} |")


def main() -> None:
    """Draw the mutants, run their tests, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--size", type=int, default=200, help="how many mutants are drawn")
    parser.add_argument("--children", type=int, default=1, help="how many mutants are tested at a time")
    parser.add_argument("--names", type=Path, help="file of the sample: one result and name a line")
    parser.add_argument("--again", action="store_true", help="test those of FILE that no test failed for")
    parser.add_argument("--read", action="store_true", help="print the table of FILE; no test is run")
    chosen = parser.parse_args()

    if chosen.again or chosen.read:
        found = dict(line.split("\t")[::-1] for line in chosen.names.read_text().splitlines())
        names = list(found)
    else:
        found = {}
        names = sample(mutants_by_subject(), chosen.size, chosen.seed)
    if chosen.read:
        print_table(found)
        return
    tested = [name for name in names if found.get(name) != "killed"]
    mutmut("run", "--max-children", str(chosen.children), *tested)
    told = statuses()
    found |= {name: told[name] for name in tested}
    if chosen.names:
        chosen.names.parent.mkdir(exist_ok=True)
        chosen.names.write_text("".join(f"{found[name]}\t{name}\n" for name in names))

    print_table({name: found[name] for name in names})
    for name in names:
        if found[name] != "killed":
            print(f"- {found[name]}: `{name}`: `{mutated_lines(name)}`")


if __name__ == "__main__":
    main()
