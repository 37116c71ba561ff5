"""The measured parts of docs/measurements*.md: copies of what the scripts printed, kept in `results/`.

    python -m measurements.pages                                  # write the recorded results into the pages
    python -m measurements.pages NAME ... [--with CASES=FOLDER]   # run these again and record what they print
    python -m measurements.pages NAME --command 'python -m measurements.SCRIPT CASES'     # a new one

`results/NAME.md` has the command, then date, commit and machine, then what the command printed, as Markdown.
A word in capitals in a command stands for a folder, which `--with` gives. A page names a result between two
comments, `<!-- result: NAME -->` and `<!-- end -->`; what is between them is replaced. A test compares pages
and results, and refuses figures elsewhere in a page.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
PAGES = tuple(sorted((ROOT / "docs").glob("measurements*.md")))
PLACE = re.compile(r"(<!-- result: (\S+) -->\n\n)(?:(?!<!--).)*(?=<!-- end -->)", re.DOTALL)
"""A place of a result in a page, also an empty one; no other comment is in it."""
# A folder in a command: matches "CASES", not "--data_dir".
_FOLDER = re.compile(r"\b[A-Z][A-Z_]{2,}\b(?!=)")


def filled(page: str) -> str:
    """The text of a page with the results as they are recorded."""
    return PLACE.sub(lambda place: f"{place[1]}{result(place[2])}\n\n", page)


def result(name: str) -> str:
    """A recorded result as Markdown."""
    return (RESULTS / f"{name}.md").read_text("utf-8").rstrip()


def command_of(name: str) -> str:
    """The command that gives a result: its first line, an indented one."""
    return result(name).splitlines()[0].strip()


def printed(command: str, folders: Mapping[str, str], *, even_failed: bool) -> str:
    """What a command prints.

    Raises:
        SystemExit: It fails, or a folder that it needs is not given.
    """
    missing = sorted({*_FOLDER.findall(command)} - folders.keys())
    if missing:
        sys.exit(f"{command}: give --with {missing[0]}=FOLDER")
    text = _FOLDER.sub(lambda word: shlex.quote(folders[word[0]]), command)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode and not even_failed:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout.strip() + (f"\n\nExit code {done.returncode}." if done.returncode else "")


def provenance() -> str:
    """When, of what and on what a result is."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    machine = f"{cores} shared cores (load {load:.1f} at the start), Python {platform.python_version()}"
    return f"{datetime.now(UTC):%Y-%m-%d}, commit {commit}, {machine}."


def record(name: str, command: str, folders: Mapping[str, str], *, even_failed: bool) -> None:
    """Run a command and record what it prints."""
    about = provenance()
    text = f"    {command}\n\n{about}\n\n{printed(command, folders, even_failed=even_failed)}\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, "utf-8")
    print(f"{name}: {about}")


def main() -> None:
    """Record the results that are named, and write all pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help="results to record again")
    parser.add_argument("--command", help="the command of a new result")
    parser.add_argument("--with", dest="folders", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--even_failed", action="store_true", help="record a limit that was not kept")
    options = parser.parse_args()
    folders = dict(one.split("=", 1) for one in options.folders)
    for name in options.names:
        record(name, options.command or command_of(name), folders, even_failed=options.even_failed)
    for page in PAGES if not options.command else ():
        page.write_text(filled(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
