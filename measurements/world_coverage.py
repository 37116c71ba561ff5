"""How many tools of a library a world covers: one by rules, and the `world.json` of the folder.

python -m measurements.world_coverage FOLDER [FOLDER ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from toolassay.console.tables import Table
from toolassay.records.data_folder import DataFolder
from toolassay.worlds.checks import world_flaws
from toolassay.worlds.rules import world_by_rules
from toolassay.worlds.world import read_world

HEADS = ("library", "tools", "things, records", "covered", "covered by rules", "flaws")


def main(folders: list[str]) -> int:
    """A row for each folder."""
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    rows = []
    for name in folders:
        folder = DataFolder(Path(name))
        library = folder.library()
        world = read_world(folder.path)
        assert world is not None, f"{name} has no world.json"
        by_rules = len(world_by_rules(library).tools)
        size = len(library)
        records = sum(map(len, world.records.values()))
        rows.append(
            (
                folder.path.name,
                f"{size:,}",
                f"{len(world.things)}, {records:,}",
                f"{len(world.tools)} ({len(world.tools) / size:.0%})",
                f"{by_rules} ({by_rules / size:.0%})",
                str(len(world_flaws(world, library))),
            )
        )
    print(Table(HEADS, rows, "lrrrrr").markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
