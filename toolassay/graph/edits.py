"""Corrections of people to a schema graph: `graph_edits.json`, applied to every regenerated graph.

The file has at most one edit for an ordered pair of tools; a later one replaces it:

    {"edits": [{"action": "add", "source": "search", "target": "details",
                "fields": [{"from": "results[].id", "to": "movie_id"}], "note": "…"}]}

add: the link is there, whatever the schemas say. remove: it is not, whatever finds it. pin: it stays at every
threshold, and if it is no longer derived, as the copy in `link`. retype: its `type`, `fields` or `kind`
change, and it is pinned. An edit that does not fit the present tools is reported and stays in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from toolassay.files.data_files import keep_dated_copy, read_json, write_json
from toolassay.graph.dependencies import (
    ORDER,
    Dependency,
    Kind,
    WrittenPair,
    converted,
    filled_by,
    read_items,
)
from toolassay.graph.links import FieldPair
from toolassay.tools.argument_schemas import Schema, has_place
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.output_paths import EACH, Part, parse_path

EDITS = "graph_edits.json"
"""The file of a data folder."""

NO_LONGER_DERIVED = "the link is no longer derived: its copy is kept"
"""The problem of a pinned link that is there only because it is pinned."""

Action = Literal["add", "remove", "pin", "retype"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A correction of the link from one tool to another.

    Attributes:
        action: What to do (see the module).
        source: Id of the tool that comes first.
        target: Id of the other.
        type: New type; None for the argument that is filled first.
        fields: New values that flow; None for those of the derived link.
        kind: New kind; None for that of the derived link.
        note: Why, in words of the person.
        link: The link when it was pinned or retyped.
        further: Other keys of its object.
    """

    action: Action
    source: str
    target: str
    type: str | None = None
    fields: tuple[FieldPair, ...] | None = None
    kind: Kind | None = None
    note: str = ""
    link: Dependency | None = None
    further: tuple[tuple[str, Any], ...] = ()

    @property
    def pair(self) -> tuple[str, str]:
        """The ids of both tools."""
        return self.source, self.target

    def to_json(self) -> dict[str, Any]:
        """The edit as an object of the file."""
        optional = {
            "type": self.type,
            "fields": None if self.fields is None else [pair.to_json() for pair in self.fields],
            "kind": self.kind,
            "note": self.note or None,
            "link": self.link and self.link.to_json(),
        }
        value = {"action": self.action, "source": self.source, "target": self.target}
        return value | {key: item for key, item in optional.items() if item is not None} | dict(self.further)

    @classmethod
    def from_json(cls, value: Any) -> Edit:
        """Read an object of the file.

        Raises:
            ValueError: A key has a value that it cannot have; the message names it.
        """
        edit, further = converted(value, _Edit)
        fields = None if edit.fields is None else filled_by(edit.fields)
        copy = None if edit.link is None else Dependency.from_json(edit.link)
        if edit.source == edit.target:
            raise ValueError("leads from a tool to itself")
        if copy is not None and (copy.source, copy.target) != (edit.source, edit.target):
            raise ValueError("'link' is of other tools")
        ends = edit.action, edit.source, edit.target
        return cls(*ends, edit.type, fields, edit.kind, edit.note or "", copy, further)

    def __str__(self) -> str:
        return f"{self.action} {self.source} → {self.target}"


class _Edit(msgspec.Struct, frozen=True):
    """The form of an edit in the file."""

    action: Action
    source: str
    target: str
    type: str | None = None
    fields: list[WrittenPair] | None = None
    kind: Kind | None = None
    note: str | None = None
    link: dict[str, Any] | None = None


class EditProblem(NamedTuple):
    """Why an edit does not fit the present tools and links."""

    edit: Edit
    reason: str


class Edited(NamedTuple):
    """Links with the edits, the edits that changed them, and those that do not fit."""

    dependencies: list[Dependency]
    applied: list[Edit]
    problems: list[EditProblem]


def read_edits(path: Path) -> list[Edit]:
    """The edits of a file, one for each pair: of several the last.

    Raises:
        UsageError: The file is missing or malformed (with the line).
    """
    fix = 'correct or remove that edit: {"edits": [{"action": "add", …}]}'
    edits = read_items(path, "edits", Edit.from_json, fix=fix)
    return list({edit.pair: edit for edit in edits}.values())


def write_edits(path: Path, edits: Sequence[Edit]) -> Path | None:
    """Write the file, unless it has the same edits.

    Returns:
        The dated copy of the file before, which is kept if an edit was replaced or taken back.
    """
    before = []
    further = {}
    if path.exists():
        before = read_edits(path)
        further = read_json(path)
    if list(edits) == before:
        return None
    copy = keep_dated_copy(path) if any(edit not in edits for edit in before) else None
    write_json(path, {**further, "edits": [edit.to_json() for edit in edits]})
    return copy


def combine(edits: Iterable[Edit], newer: Iterable[Edit]) -> list[Edit]:
    """One edit for each pair: the newer one, except that an added link stays added when it changes.

    A pin of a link that was retyped keeps the new type.
    """
    edits_by_pair = {edit.pair: edit for edit in edits}
    for edit in newer:
        old = edits_by_pair.get(edit.pair)
        is_change = edit.action in ("pin", "retype")
        edits_by_pair[edit.pair] = (
            edit if old is None or old.action == "remove" or not is_change else _both(old, edit)
        )
    return list(edits_by_pair.values())


def _both(old: Edit, edit: Edit) -> Edit:
    """An add, pin or retype that a pin or retype follows."""
    note = edit.note or old.note
    link = edit.link or old.link
    if edit.action == "pin":
        return replace(old, note=note, link=link)
    fields = () if edit.type == ORDER and edit.fields is None else old.fields
    return replace(
        old,
        action="add" if old.action == "add" else "retype",
        type=old.type if edit.type is None and edit.fields is None else edit.type,
        fields=fields if edit.fields is None else edit.fields,
        kind=edit.kind,
        note=note,
        link=link,
    )


def apply(edits: Iterable[Edit], dependencies: Iterable[Dependency], library: ToolLibrary) -> Edited:
    """Apply edits to the links of a library, before any threshold.

    Applying them once more changes nothing.

    Returns:
        The links, those that were added last; and the edits that do not fit, which includes a pinned link
        that is kept from its copy only.
    """
    links = {(link.source, link.target): link for link in dependencies}
    applied = []
    problems = []
    for edit in edits:
        unknown = [name for name in edit.pair if name not in library]
        if unknown:
            problems.append(EditProblem(edit, f"the tools have no '{unknown[0]}'"))
            continue
        if edit.action == "remove":
            if links.pop(edit.pair, None) is None:
                problems.append(EditProblem(edit, "there is no such link to remove"))
            else:
                applied.append(edit)
            continue
        changed, reasons = _changed(edit, links.get(edit.pair), library)
        problems += [EditProblem(edit, reason) for reason in reasons]
        if changed is not None:
            links[edit.pair] = changed
            applied.append(edit)
    return Edited(list(links.values()), applied, problems)


def _changed(
    edit: Edit, present: Dependency | None, library: ToolLibrary
) -> tuple[Dependency | None, list[str]]:
    """The link as an edit wants it, or None to leave all as it is; and what does not fit."""
    problems = []
    base = present
    if base is None and edit.action != "add":
        if edit.link is None:
            return None, ["there is no such link"]
        base = edit.link
        if base.origin != "user":
            problems.append(NO_LONGER_DERIVED)
    edited_fields = edit.fields
    if edited_fields is None and edit.type == ORDER and edit.kind is None:
        edited_fields = ()
    wanted_fields = edited_fields
    if wanted_fields is None:
        wanted_fields = base.fields if base else ()
    source, target = (library[name] for name in edit.pair)
    checked_pairs = [(pair, field_problem(pair, source, target)) for pair in wanted_fields]
    problems += [problem for _, problem in checked_pairs if problem]
    fields = tuple(pair for pair, problem in checked_pairs if not problem)
    if wanted_fields and not fields:
        return None, problems
    is_kept = base is not None and edited_fields is None and fields == base.fields
    kind: Kind = "dependency" if fields else "observed"
    type_ = fields[0].target if fields else ORDER
    if base is not None and is_kept:
        kind = base.kind
        type_ = base.type
    if edit.action == "add":
        reason = f"added by a person: {edit.note}" if edit.note else "added by a person"
        count, further = (base.count, base.further) if base else (0, ())
        link = Dependency(*edit.pair, reasons=(reason,), origin="user", count=count, further=further)
    else:
        assert base is not None
        link = base.with_further(pinned=True, note=edit.note or None)
    # The first field is the one that gives the link its type.
    fields = tuple(sorted(fields, key=lambda pair: pair.target != edit.type))
    return replace(link, type=edit.type or type_, kind=edit.kind or kind, fields=fields), problems


def field_problem(pair: FieldPair, source: Tool, target: Tool) -> str:
    """Why a value cannot flow from one tool to another, by their schemas; "" if it can.

    A result without a schema may have anything.
    """
    parts = parse_path(pair.target)
    arguments: Schema = target.input_schema or {}
    names = {parameter.name for parameter in target.parameters}
    # An argument may have dots or brackets in its name; one of any name fits `additionalProperties`.
    is_argument = pair.target in names or (
        bool(parts)
        and (parts[0] in names or bool(arguments.get("additionalProperties")))
        and _has_path(parts, arguments)
    )
    if not is_argument:
        return f"'{target.id}' has no argument '{pair.target}'"
    if source.output_schema and not _has_path(parse_path(pair.source), source.output_schema):
        return f"the result of '{source.id}' has no '{pair.source}'"
    return ""


def _has_path(parts: Sequence[Part], root: Schema) -> bool:
    return has_place([0 if part == EACH else part for part in parts], root)
