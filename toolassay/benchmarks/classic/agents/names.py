"""The name in an answer, and which workflow it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from toolassay.benchmarks.classic.data import Workflow

_NUMBER = re.compile(r"(?:\(?\d{1,4}[.):]|#\d{1,4}[.):]?)\s*")
_MARKS = "\"'`“”„‘’«»*_ "


class Match(NamedTuple):
    """Whether a name is one of those offered; `workflow` None of a known name is the choice of none."""

    known: bool
    workflow: Workflow | None = None
    note: str = ""


def word_for_none(candidates: Sequence[Workflow]) -> str:
    """The name by which none of the candidates is chosen, and which none of them has.

    >>> word_for_none([])
    'none'
    """
    names = {plain(workflow.name) for workflow in candidates}
    word = "none"
    while word in names:
        word = f"{word} of these"
    return word


def find_name(text: str, candidates: Sequence[Workflow], nothing: str) -> Match:
    r"""Which candidate a name names.

    Blanks around it and upper or lower case make no difference. Quotes, marks and the number of the list
    are passed over with a note, where it then is the name of exactly one.

    >>> late = Workflow("w1", "Late Order", "", "shop")
    >>> find_name(" late order ", [late], "none").workflow.id
    'w1'
    >>> find_name('2. "Late Order"', [late], "none").note
    'read as the name: \'2. "Late Order"\''
    >>> find_name("NONE", [late], "none"), find_name("Lost Order", [late], "none").known
    (Match(known=True, workflow=None, note=''), False)
    """
    choices: list[tuple[str, Workflow | None]] = [(workflow.name, workflow) for workflow in candidates]
    choices.append((nothing, None))
    for read, note in ((str.casefold, ""), (plain, ""), (_bare, f"read as the name: {text[:100]!r}")):
        wanted = read(text.strip())
        found = [workflow for name, workflow in choices if read(name) == wanted]
        if len(found) == 1:
            return Match(True, found[0], note)
    return Match(False)


def plain(text: str) -> str:
    """A name in lower case, with single blanks."""
    return " ".join(text.split()).casefold()


def _bare(text: str) -> str:
    """A name without number and marks around it."""
    text = text.strip(_MARKS)
    return plain(_NUMBER.sub("", text, count=1).strip(_MARKS).removesuffix("."))
