"""Plant defects in clean data and print what `toolassay check` finds of them.

    python -m measurements.planted_defects [--data_dir FOLDER ...] [--seeds 5] [--share 0.25] [--out OUT]
        [--option=--ANYTHING ...]

Default of `--data_dir`: the three data folders of the project and the sets of measurements/held_back.
OUT (a temporary folder unless given) gets every planted set with its key and gates, `table.md` and
`results.json`. Exit code 1: a kind is found too seldom, or a set has too many false alarms.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measurements.planted_defects.checking import toolassay_check
from measurements.planted_defects.examination import examine
from measurements.planted_defects.table import as_json, falls_short, markdown, overview

ROOT = Path(__file__).resolve().parents[2]
OWN = ("data_huggingface", "data_multimedia", "data_dailylifeapis")
HELD_BACK = ("office", "errands", "errands_hub", "media", "travel", "studio", "household", "newsroom")


def main() -> int:
    """Run the examination and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data_dir", type=Path, action="append", help="a set that is clean; may be repeated")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds, from 1 [5]")
    parser.add_argument("--share", type=float, default=0.25, help="of a set that is planted at most [0.25]")
    parser.add_argument("--out", type=Path, help="where to keep everything [a temporary folder]")
    parser.add_argument("--option", action="append", default=[], help="a further option of toolassay check")
    arguments = parser.parse_args()
    folders = arguments.data_dir or [
        *(ROOT / name for name in OWN),
        *(ROOT / "measurements" / "held_back" / name for name in HELD_BACK),
    ]
    out = arguments.out or Path(tempfile.mkdtemp(prefix="planted_defects_"))
    seeds = range(1, arguments.seeds + 1)
    result = examine(folders, seeds, out, toolassay_check(arguments.option), share=arguments.share)
    (out / "table.md").write_text(markdown(result), "utf-8")
    (out / "results.json").write_text(
        json.dumps(as_json(result), indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    print(overview(result))
    short = falls_short(result)
    print(f"\n{'; '.join(short) or 'Every kind and every set is within what is wanted'}.")
    print(f"Everything is in {out}", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
