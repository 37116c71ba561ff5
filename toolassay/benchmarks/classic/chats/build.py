"""A set from one's own chats: sample, workbooks, merge, the hub's layout."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.chats.chat import profane_words
from toolassay.benchmarks.classic.chats.chat_sample import make_sample, write_sample
from toolassay.benchmarks.classic.chats.masking import Finder, find_with
from toolassay.benchmarks.classic.chats.merge import (
    CONFLICTS,
    Ties,
    is_unfinished,
    merge,
    remove_unfinished,
    write_reports,
    write_set,
)
from toolassay.benchmarks.classic.chats.raw_chats import find_source, read_chats
from toolassay.benchmarks.classic.chats.settings import ChatSampling
from toolassay.benchmarks.classic.chats.workbook import read_annotations, write_workbook
from toolassay.benchmarks.classic.data import (
    DOMAIN_COLUMNS,
    DOMAINS,
    MESSAGE_COLUMNS,
    MESSAGES,
    PROMPTS,
    WORKFLOW_COLUMNS,
    WORKFLOWS,
    check_empty,
    read_data,
)
from toolassay.benchmarks.csv_tables import read_table, write_table
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import number
from toolassay.console.text_formatting import count_of
from toolassay.errors import IncompleteError, UsageError
from toolassay.extras import needed
from toolassay.files.data_files import atomic_target, read_text, safe_name, write_text

CARD = "README.md"
PROMPT_COLUMNS = ("turn_1_prompt", "turn_2_prompt", "turn_3_prompt")
_TABLES = {
    MESSAGES: MESSAGE_COLUMNS,
    WORKFLOWS: WORKFLOW_COLUMNS,
    DOMAINS: DOMAIN_COLUMNS,
    PROMPTS: PROMPT_COLUMNS,
}
# The YAML block at the start of a card: matches "---\nlicense: mit\n---\n"; not a rule later in the text.
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n+", re.DOTALL | re.MULTILINE)


def _write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table: numbers in the column of numbers, null for an empty label.

    Raises:
        UsageError: pyarrow is not installed.
    """
    arrow = needed("pyarrow", "Parquet", "hub")
    parquet = needed("pyarrow.parquet", "Parquet", "hub")
    values: dict[str, Any] = {}
    for position, column in enumerate(columns):
        cells = [row[position] for row in rows]
        if column == "request_idx":
            values[column] = arrow.array([int(cell.removesuffix(".0")) for cell in cells], arrow.int64())
        else:
            nothing = None if column.startswith("true_workflow") else ""
            values[column] = arrow.array([cell or nothing for cell in cells], arrow.string())
    with atomic_target(path) as stream:
        parquet.write_table(arrow.table(values), stream)


def sample_chats(
    path: str | Path,
    out: str | Path,
    settings: ChatSampling = ChatSampling(),
    *,
    force: bool = False,
    screen: Screen = DEFAULT,
) -> None:
    """Clean, filter, draw and mask raw chats.

    Args:
        path: Table of messages, or folder with messages and workflows.
        out: the folder for the tables without labels, `recorded.csv`, `steps.json` and `dropped.csv`.
        settings: how they are read, filtered, drawn and masked.
        force: replace files that are there.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: bad input, with its line; a missing library; `out` is not empty.
        ToolassayError: no chat is left.
    """
    messages, workflows = find_source(Path(path))
    settings = replace(settings, workflows=settings.workflows or workflows)
    folder = Path(out)
    check_empty(folder, force=force)
    find = _finder(settings)
    profane = _profane(settings.profanity)
    raw = read_chats(messages, settings)
    if settings.workflows is None:
        started = count_of(len(raw.workflows), "workflow")
        screen.say(
            f"{WARNING}no table of workflows (--workflows): the {started} that the bot started are taken, by "
            "their ids and without descriptions; what it never started is missing"
        )
    sample = make_sample(raw, settings, profane=profane, find=find)
    write_sample(sample, settings, folder)
    screen.table(sample.funnel.table())
    if find is None:
        screen.say(f"{WARNING}personal data is not masked")
    else:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sample.masked.items()) or "nothing"
        screen.say(f"masked: {kinds}")
        if settings.mask == "patterns":
            screen.say(
                f"{WARNING}patterns find neither bare names nor postal addresses: --mask MODEL_PATH does, "
                "and annotators mark what is left"
            )
        if telling := sum(bool(find(chat.id)) for chat in sample.chats):
            screen.say(
                f"{WARNING}{count_of(telling, 'conversation id')} may hold personal data: ids are not "
                "masked, give the chats other ones"
            )
    screen.say(f"{folder}: {count_of(len(sample.chats), 'conversation')}, without labels")


def _finder(settings: ChatSampling) -> Finder | None:
    """What finds personal data; None if nothing is masked."""
    if settings.mask == "off":
        if settings.mask_patterns:
            raise UsageError("--mask off and --mask_pattern contradict", fix="leave one of them out")
        return None
    model = None if settings.mask == "patterns" else Path(settings.mask)
    return find_with(model, regions=settings.phone_regions, own=dict(settings.mask_patterns))


def _profane(path: Path | None) -> Callable[[str], bool] | None:
    """What tells whether a text has one of the words of a file; None without a file."""
    if path is None:
        return None
    words = [word.strip() for word in read_text(path).split("\n") if word.strip()]
    if not words:
        raise UsageError("holds no words", file=path, fix="write one a line, or leave --profanity out")
    return profane_words(words)


def write_workbooks(
    data_dir: str | Path,
    annotators: Sequence[str],
    out: str | Path,
    *,
    shuffle: int | None = None,
    force: bool = False,
    screen: Screen = DEFAULT,
) -> list[Path]:
    """Write a workbook for each annotator.

    Args:
        data_dir: the sample.
        annotators: their names, which become file names.
        out: the folder for the workbooks.
        shuffle: a seed; each annotator gets the conversations in an order of his own.
        force: replace workbooks that are there, with what was filled in.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: bad input, openpyxl is missing, two names make one file, or a workbook is there.
    """
    paths = {name: Path(out) / f"{safe_name(name)}.xlsx" for name in annotators}
    if not annotators or len({str(path).casefold() for path in paths.values()}) < len(annotators):
        raise UsageError("annotators need names that differ", fix="say --annotators ann,ben,cem")
    data = read_data(Path(data_dir))
    for path in paths.values():
        if path.exists() and not force:
            raise UsageError("is there, perhaps filled in", file=path, fix="move it, or say --force true")
    for name, path in paths.items():
        write_workbook(path, data, shuffle=None if shuffle is None else f"{shuffle}/{name}")
        screen.show(str(path))
    return list(paths.values())


def merge_workbooks(
    data_dir: str | Path,
    workbooks: Sequence[str | Path],
    out: str | Path,
    *,
    ties: Ties = "conflict",
    force: bool = False,
    screen: Screen = DEFAULT,
) -> int:
    """Put the workbooks of annotators together to a clean set.

    Args:
        data_dir: the sample that they annotated.
        workbooks: `.xlsx` or `.csv` files, or folders of them; a file is an annotator.
        out: the folder for the set, its card, the votes, the conflicts and the agreement.
        ties: what becomes of messages without a majority, see `merge`.
        force: replace files that are there.
        screen: Receives messages, results and progress.

    Returns:
        How many messages wait for a decision.

    Raises:
        UsageError: bad input, with file, sheet and row.
        IncompleteError: nothing is filled in, or no conversation can be released; of the latter votes and
            conflicts are written all the same.
    """
    folder = Path(out)
    unfinished = is_unfinished(folder)
    check_empty(folder, force=force or unfinished)
    data = read_data(Path(data_dir))
    answers = {}
    files: list[Path] = []
    for path in map(Path, workbooks):
        inside = sorted(path.iterdir()) if path.is_dir() else ()
        # Excel keeps a file "~$…" while a workbook is open.
        sheets = (
            file for file in inside if file.suffix.lower() in (".xlsx", ".csv") and file.name[:2] != "~$"
        )
        files += sheets if path.is_dir() else [path]
    if not files:
        raise UsageError("no workbooks", fix="name them: --workbooks ann.xlsx ben.xlsx")
    for path in files:
        if path.stem in answers:
            raise UsageError(f"two annotators are called {path.stem!r}", file=path, fix="rename one file")
        answers[path.stem] = read_annotations(path, data)
        screen.say(f"{path}: {count_of(len(answers[path.stem]), 'row')} filled in of {len(data.examples):,}")
    if not any(answers.values()):
        raise IncompleteError(
            f"nothing is filled in yet in {count_of(len(answers), 'workbook')}",
            fix="have them filled in, then merge again",
        )
    merged = merge(data, answers, ties=ties)
    if unfinished:
        remove_unfinished(folder)
    write_reports(folder, merged, answers)
    screen.table(merged.funnel.table())
    if not merged.rows:
        raise IncompleteError(
            "no conversation can be released",
            file=folder / CONFLICTS,
            fix="decide these in the workbooks and merge again, or say --ties first",
        )
    write_set(folder, merged, data, len(answers), _rules(ties))
    for name, agreement in (("all", merged.agreement["all"]), *merged.agreement["domains"].items()):
        raw, kappa = (number(agreement[key], 3, unknown="-") for key in ("raw", "kappa"))
        screen.say(
            f"{name}: {count_of(agreement['messages'], 'message')}, raw agreement {raw}, kappa {kappa}"
        )
    messages = count_of(len(merged.rows), "message")
    screen.show(f"{folder}: {messages}, {count_of(merged.funnel.conversations, 'conversation')}")
    if merged.open_conflicts:
        waiting = count_of(merged.open_conflicts, "message")
        screen.say(
            f"{WARNING}{waiting} without a majority, see {folder / CONFLICTS}: decide these in the "
            "workbooks and merge again, or say --ties first or drop"
        )
    return merged.open_conflicts


def publish_set(
    data_dir: str | Path,
    to: str | Path,
    *,
    parquet: bool = False,
    prompts: str | Path | None = None,
    force: bool = False,
    screen: Screen = DEFAULT,
) -> None:
    """Write the tables of a data set and its card as the hub has them: one configuration per table, one split
    `test`. Nothing is sent.

    Only published columns are written: no votes, no names of annotators, none of the bot's recorded values.

    Args:
        data_dir: the set.
        to: the folder for tables and card.
        parquet: Parquet instead of CSV.
        prompts: the table of security prompts, where the set has none.
        force: replace files that are there.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: bad input, pyarrow is missing, `to` is not empty.
    """
    folder = Path(to)
    source = Path(data_dir)
    check_empty(folder, force=force)
    data = read_data(source)
    paths = {name: source / name for name in _TABLES}
    if prompts is not None:
        paths[PROMPTS] = Path(prompts)
    elif not paths[PROMPTS].is_file():
        del paths[PROMPTS]
    rows = {
        name: [[row[column] for column in _TABLES[name]] for row in read_table(path, _TABLES[name])]
        for name, path in paths.items()
    }
    write, ending = (_write_parquet, ".parquet") if parquet else (write_table, ".csv")
    for name, cells in rows.items():
        write((folder / name).with_suffix(ending), _TABLES[name], cells)
    names = [Path(name).stem for name in rows]
    split = "- config_name: {0}\n  data_files:\n  - split: test\n    path: {0}{1}\n"
    configs = "".join(split.format(name, ending) for name in names)
    card = source / CARD
    text = "# Chats and the workflows to start\n"
    text = _FRONT_MATTER.sub("", read_text(card)) if card.is_file() else text
    write_text(folder / CARD, f"---\nconfigs:\n{configs}---\n\n{text}")
    if not any(example.labels for example in data.examples):
        screen.say(f"{WARNING}no message has a label: is this the sample and not the merged set?")
    if PROMPTS not in rows:
        screen.say(f"{folder}: without {PROMPTS}; --prompts FILE adds it")
    screen.say(f"{folder}: {', '.join(names)}. Nothing was sent; to upload it:")
    screen.show(f"hf upload OWNER/NAME {shlex.quote(str(folder))} . --repo-type dataset")


def _rules(ties: Ties) -> list[str]:
    return [
        "A label has more than half of the votes; `none of these` is a vote, an empty cell is not.",
        "A second label was named first or second by more than half of them.",
        "A conversation was left out if more than half flagged it.",
        "Without a majority, the choice of the first annotator counted among those with the most votes."
        if ties == "first"
        else "A conversation with a message without a majority was left out.",
    ]
