"""An examination: every set as it is, then planted with each seed, and what the gates made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from measurements.planted_defects.checking import Check
from measurements.planted_defects.clean import faults
from measurements.planted_defects.planting import plant
from measurements.planted_defects.samples import DataSet, read_data_set, write_lines
from measurements.planted_defects.scoring import Result, read_gates


def examine(
    folders: Sequence[Path], seeds: Iterable[int], out: Path, check: Check, *, share: float = 0.25
) -> Result:
    """Plant, check and score; `out/<set>/<seed>/` keeps the planted set, its key and its `gates.jsonl`.

    Raises:
        ValueError: two folders have one name, or `gates.jsonl` lacks a sample.
        RuntimeError: a check ended without `gates.jsonl`.
    """
    sets = [read_data_set(folder) for folder in folders]
    if len({data.name for data in sets}) < len(sets):
        raise ValueError("two of the folders have one name: give them names of their own")
    result, seeds = Result(), list(seeds)
    for data in sets:
        result.unclean[data.name] = faults(data)
        _check(data, 0, out / data.name / "clean", check, result, share=0.0)
        strange = sorted({name for other in sets for name in other.tools} - set(data.tools))
        for seed in seeds:
            _check(data, seed, out / data.name / str(seed), check, result, share=share, strange=strange)
    return result


def _check(
    data: DataSet,
    seed: int,
    folder: Path,
    check: Check,
    result: Result,
    *,
    share: float,
    strange: Sequence[str] = (),
) -> None:
    leave = list(result.unclean[data.name])
    records, key = plant(data, seed, share=share, strange_tools=strange, leave=leave)
    data.write(folder, records)
    write_lines(folder / "key.jsonl", (line._asdict() for line in key))
    check(folder, folder / "gates")
    result.add(data.name, seed, records, key, read_gates(folder / "gates" / "gates.jsonl"))
