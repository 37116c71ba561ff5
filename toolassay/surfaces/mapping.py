"""Which tools of one version became which of another, and plans of the one as plans of the other.

Tools of the same name and arguments need no entry. What else changed is proposed, and counts when a person
has confirmed it in `mapping.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, record_of, unescaped_json, write_json
from toolassay.graph.derive.evidence import Similarity
from toolassay.plans.gold import ALTERNATIVES
from toolassay.prompts.plan_schemas import object_schema
from toolassay.prompts.templates import package_template
from toolassay.runs.questions import ModelQuestion, asked_once
from toolassay.runs.settings import RunSettings
from toolassay.tools.argument_schemas import Property, properties_of
from toolassay.tools.identifiers import words
from toolassay.tools.library import Tool, ToolLibrary

FILE = "mapping.json"
_FIX = "correct it, or delete it and run the command again for new proposals"
_LEAST_ALIKE = 0.3  # of a proposal; below, names and texts share little more than common words
_MOST_SHOWN = 60_000  # characters of the tools of each version in the prompt


class MappedTool(
    msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, rename={"before": "from", "after": "to"}
):
    """A tool of the old version, what it is in the new one, and its arguments.

    Attributes:
        before: The old tool.
        after: The new tool.
        arguments: New names of arguments that have another one; None leaves the argument out.
        when: Values of arguments of the calls that this entry is about, which are left out: where a tool was
            split.
        add: Arguments that the new tool needs besides: where tools were merged.
        confirmed: Whether a person says so; None for a proposal without a decision.
        why: How it was proposed.
    """

    before: str
    after: str
    arguments: dict[str, str | None] = {}
    when: dict[str, Any] = {}
    add: dict[str, Any] = {}
    confirmed: bool | None = None
    why: str = ""


class ToolMapping(msgspec.Struct, forbid_unknown_fields=True):
    """The content of `mapping.json`."""

    tools: list[MappedTool]

    @classmethod
    def read(cls, file: Path) -> ToolMapping:
        """The mapping in a file.

        Raises:
            UsageError: It is malformed, or an entry is neither confirmed nor rejected.
        """
        mapping = record_of(read_json(file), cls, file=file, fix=_FIX)
        open_entries = [tool.before for tool in mapping.tools if tool.confirmed is None]
        if open_entries:
            raise UsageError(
                f"no decision about {', '.join(map(repr, open_entries[:5]))}",
                file=file,
                fix='write "confirmed": true or false in each entry, and run the command again',
            )
        return mapping

    def write(self, file: Path) -> None:
        """Write the file; undecided entries have `"confirmed": null`."""
        write_json(
            file,
            {"tools": [{**msgspec.to_builtins(tool), "confirmed": tool.confirmed} for tool in self.tools]},
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The old and the new tool of each confirmed entry."""
        return sorted({(tool.before, tool.after) for tool in self.tools if tool.confirmed})

    @property
    def names(self) -> dict[str, str]:
        """The old name of each new tool that is one old tool, neither split nor merged."""
        old, new = (Counter(names) for names in zip(*self.pairs, strict=True)) if self.pairs else ({}, {})
        return {after: before for before, after in self.pairs if old[before] == new[after] == 1}

    def unknown(self, before: ToolLibrary, after: ToolLibrary) -> list[str]:
        """The names of entries that no tool has."""
        ends = [(tool.before, before) for tool in self.tools] + [(tool.after, after) for tool in self.tools]
        return [name for name, library in ends if name not in library]

    def translated(self, label: Mapping[str, Any], library: ToolLibrary) -> dict[str, Any]:
        """A label of the old version as one of the new; alternatives that have no translation are left out.

        Args:
            label: As in `data.json`.
            library: The new tools.

        Raises:
            LookupError: A tool is not in the new version, and no confirmed entry says what it became.
        """
        others = []
        for other in label.get(ALTERNATIVES) or ():
            try:
                others.append(self._plan(other, library))
            except LookupError:
                continue
        forbidden = [name for old in label.get("must_not_call") or () for name in self._all_of(old, library)]
        replaced = {ALTERNATIVES: others, "must_not_call": forbidden}
        kept = {key: value for key, value in replaced.items() if key in label}
        return {**label, **self._plan(label, library), **kept}

    def _plan(self, plan: Mapping[str, Any], library: ToolLibrary) -> dict[str, Any]:
        nodes = [self._call(node, library) for node in plan.get("task_nodes") or ()]
        if not nodes:
            return dict(plan)
        renamed = {old["task"]: new["task"] for old, new in zip(plan["task_nodes"], nodes, strict=True)}
        links = [
            {**link, **{end: renamed.get(link[end], link[end]) for end in ("source", "target")}}
            for link in plan.get("task_links") or ()
        ]
        return {**plan, "task_nodes": nodes, "task_links": links}

    def _call(self, node: Mapping[str, Any], library: ToolLibrary) -> dict[str, Any]:
        given = {argument["name"]: argument for argument in node.get("arguments") or ()}
        entries = [tool for tool in self.tools if tool.before == node["task"] and tool.confirmed]
        for entry in sorted(entries, key=lambda entry: -len(entry.when)):
            if all(name in given and given[name]["value"] == value for name, value in entry.when.items()):
                arguments = [
                    {**argument, "name": name}
                    for old, argument in given.items()
                    if old not in entry.when and (name := entry.arguments.get(old, old)) is not None
                ]
                arguments += [{"name": name, "value": value} for name, value in entry.add.items()]
                return {**node, "task": entry.after, "arguments": arguments}
        if entries or node["task"] not in library:
            raise LookupError(f"no confirmed entry says what {node['task']!r} became")
        return dict(node)

    def _all_of(self, old: str, library: ToolLibrary) -> list[str]:
        mapped = [tool.after for tool in self.tools if tool.before == old and tool.confirmed]
        return list(dict.fromkeys(mapped)) or ([old] if old in library else [])


Versions = tuple[Tool | None, Tool | None]
"""A tool in the old and in the new version; None where it is not there."""


def changed_tools(before: ToolLibrary, after: ToolLibrary, mapping: ToolMapping) -> dict[str, Versions]:
    """The tools that differ between two versions, by the old name where there is one."""
    names = {name for pair in mapping.pairs for name in pair}
    pairs: dict[str, Versions] = {}
    for old, new in mapping.pairs:
        for name in (old, mapping.names.get(new, new)):
            pairs.setdefault(name, (before[old], after[new]))
    old_tools, new_tools = ({tool.id: tool for tool in library} for library in (before, after))
    for name in dict.fromkeys((*before.ids, *after.ids)):
        versions = old_tools.get(name), new_tools.get(name)
        shown = [tool and (tool.description, tool.input_schema) for tool in versions]
        if name not in names and shown[0] != shown[1]:
            pairs[name] = versions
    return pairs


def text_of(tool: Tool) -> str:
    """The description of a tool, and its arguments with theirs, on one line."""
    arguments = "; ".join(
        f"{argument.name}{'' if argument.required else '?'}: "
        f"{argument.schema.get('description') or argument.schema.get('type', 'any')}"
        for argument in _arguments(tool)
    )
    return f"{' '.join(tool.description.split())}{f' [{arguments}]' if arguments else ''}"


def proposed(before: ToolLibrary, after: ToolLibrary) -> ToolMapping:
    """What names, texts and schemas say of tools, and of arguments, that are gone."""
    gone = [tool for tool in before if tool.id not in after]
    new = [tool for tool in after if tool.id not in before]
    entries = [entry for tool in gone for entry in _split(tool, new)]
    split = {entry.before for entry in entries}
    alike = Similarity([_text(tool) for tool in (*gone, *new)])
    for number, tool in enumerate(gone):
        similarities = alike.of(number, range(len(gone), len(gone) + len(new)))
        scores = [
            (similarity + _shared_arguments(tool, other)) / 2
            for similarity, other in zip(similarities, new, strict=True)
        ]
        if tool.id not in split and max(scores, default=0) >= _LEAST_ALIKE:
            other = new[scores.index(max(scores))]
            entries.append(
                MappedTool(tool.id, other.id, _renamed(tool, other), add=_added(tool, other), why=_ALIKE)
            )
    for tool in before:
        if tool.id in after and (arguments := _renamed(tool, after[tool.id])):
            entries.append(MappedTool(tool.id, tool.id, arguments, why="its arguments have changed"))
    return ToolMapping(entries)


_ALIKE = "names, texts and arguments are alike"


def _text(tool: Tool) -> str:
    names = " ".join(argument.name for argument in _arguments(tool))
    return f"{' '.join(words(tool.id))} {tool.description} {names}"


def _arguments(tool: Tool) -> Sequence[Property]:
    return properties_of(tool.input_schema or {})


def _shared_arguments(tool: Tool, other: Tool) -> float:
    """The share of the arguments of either that both have."""
    names, others = ({argument.name for argument in _arguments(one)} for one in (tool, other))
    return len(names & others) / len(names | others) if names | others else 1.0


def _split(tool: Tool, new: Sequence[Tool]) -> Iterator[MappedTool]:
    """The new tools that have the choices of an argument in their names, if they are several."""
    for argument in _arguments(tool):
        parts = [
            (choice, other)
            for choice in argument.schema.get("enum") or ()
            for other in new
            if _is_named(choice, other)
        ]
        if len({other.id for _, other in parts}) > 1:
            why = f"{argument.name!r} is in its name"
            for choice, other in parts:
                renamed = _renamed(tool, other, besides=argument.name)
                yield MappedTool(tool.id, other.id, renamed, {argument.name: choice}, why=why)


def _is_named(choice: Any, tool: Tool) -> bool:
    return set(words(str(choice))) <= set(words(tool.id))


def _added(tool: Tool, other: Tool) -> dict[str, Any]:
    """The choices of new arguments that are in the name of the old tool: where tools were merged."""
    names = {argument.name for argument in _arguments(tool)}
    return {
        argument.name: choice
        for argument in _arguments(other)
        if argument.name not in names
        for choice in argument.schema.get("enum") or ()
        if _is_named(choice, tool)
    }


def _renamed(tool: Tool, other: Tool, besides: str = "") -> dict[str, str | None]:
    """New names of the arguments that the new tool does not have under their own, except one."""
    theirs = _arguments(other)
    ours = [argument for argument in _arguments(tool) if argument.name != besides]
    left = [argument for argument in theirs if argument.name not in {one.name for one in ours}]
    renamed: dict[str, str | None] = {}
    for argument in ours:
        if argument.name in {one.name for one in theirs}:
            continue
        kind = argument.schema.get("type")
        fitting = [one for one in left if one.schema.get("type") == kind]
        fitting = [one for one in fitting if {*words(one.name)} & {*words(argument.name)}] or [
            one for one in fitting if one.required and argument.required
        ]
        renamed[argument.name] = fitting[0].name if fitting else None
        left = [one for one in left if one not in fitting[:1]]
    return renamed


_PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 6000}


def proposed_by_model(
    before: ToolLibrary, after: ToolLibrary, folder: Path, run: RunSettings
) -> ToolMapping | None:
    """What a model proposes by the meaning of the tools; None if its answer cannot be used.

    Args:
        before: The old tools.
        after: The new tools.
        folder: Where its run is kept.
        run: The model and its limits.

    Raises:
        ToolassayError: The model gave no answer.
    """
    changed = changed_tools(before, after, ToolMapping([])).values()
    old, new = (
        "\n".join(unescaped_json(tool.to_json()) for tool in tools if tool is not None)[:_MOST_SHOWN]
        for tools in zip(*changed, strict=True)
    )
    prompt = Template(package_template("surfaces", "mapping")).substitute(before=old, after=new)
    kinds = {"from": "string", "to": "string", "arguments": "object", "when": "object", "add": "object"}
    form = object_schema({name: {"type": kind} for name, kind in {**kinds, "why": "string"}.items()})
    schema = object_schema({"tools": {"type": "array", "items": form}})
    otherwise = "proposals are by names, texts and schemas"
    answer = asked_once(
        ModelQuestion("mapping", prompt, ToolMapping, schema, _PARAMETERS, otherwise), folder, run
    )
    if answer is None:
        return None
    known = [tool for tool in answer.tools if tool.before in before and tool.after in after]
    return ToolMapping([msgspec.structs.replace(tool, confirmed=None) for tool in known])
