"""What the sheets are called, which columns they have, and how a text stands in a cell."""

from __future__ import annotations

import re
from collections.abc import Collection

from toolassay.excel import cell_text

NONE = "None of these"
"""The choice of no workflow; an empty cell is no choice."""

READ_ONLY = ("conversation_uuid", "request_idx", "User message", "Bot reply")
LABELS = ("Workflow 1", "Workflow 2")
FLAGS = {
    "gibberish": "Gibberish",
    "personal_data": "Personal data left",
    "profanity": "Profanity",
    "human": "Wants a human",
    "unclear": "Unclear",
}
"""Reasons to leave a conversation out, and the columns that ask for them."""

COLUMNS = (*READ_ONLY, *LABELS, *FLAGS.values())
WORKFLOW_COLUMNS = ("workflow_uuid", "Name", "Description")
INSTRUCTIONS = "Instructions"
YES, NO = "Yes", "No"

_LONGEST_SHEET_NAME = 31
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
# How Excel writes characters that XML cannot hold; in somebody's text it would be read as one.
_EXCEL_ESCAPE = re.compile(r"_x[0-9A-Fa-f]{4}_")


def sheet_name(wanted: str, taken: Collection[str], ending: str = "") -> str:
    r"""A name that Excel allows and no other sheet has, whatever the case of its letters.

    >>> sheet_name("R&D: new/old " + "x" * 40, [], "_workflows")
    'R&D_ new_old xxxxxxxx_workflows'
    >>> sheet_name("HR", ["hr"])
    'HR~2'
    """
    clean = _FORBIDDEN_IN_NAMES.sub("_", wanted).strip(" '") or "_"
    used = {name.casefold() for name in (*taken, "History", INSTRUCTIONS)}
    number, more = 1, ""
    while True:
        name = clean[: _LONGEST_SHEET_NAME - len(ending) - len(more)] + more + ending
        if name.casefold() not in used:
            return name
        number += 1
        more = f"~{number}"


def bare(text: str) -> str:
    """What two spellings of a name have in common.

    >>> bare("Book  Leave ") == bare("book leave")
    True
    """
    return " ".join(cell_text(text).split()).casefold()


def alike(written: str, read: str) -> bool:
    r"""Whether a cell still says what was written; programs may change line ends and spaces.

    >>> alike("one\r\ntwo ", "one\ntwo"), alike("one", "One")
    (True, False)
    """
    return _bare(cell_text(written)) == _bare(read)


def _bare(text: str) -> str:
    return " ".join(_EXCEL_ESCAPE.sub(" ", text).split())
