"""Candidates: which facts, paths, patterns and statements an argument of a tool could take."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from toolassay.graph.derive.fields import name_words, things_of_tool, verb_of
from toolassay.graph.derive.names import words_of
from toolassay.live_values.facts import Fact
from toolassay.offline.own_tools.argument_shapes import Choice, Field, Fixed, Group, Listed, Node, shape_of
from toolassay.offline.own_tools.arguments import UnfillableError
from toolassay.offline.own_tools.value_sources import Slot
from toolassay.tools import Tool

_PATH_KEYS = frozenset(
    {"path", "directory", "folder", "file name", "image path", "document path", "table path"}
)
_NEW_STEMS = ("summary", "draft", "overview", "backup", "plan", "review", "results", "ideas")
_NEW_TABLES = ("suppliers", "visits", "invoices", "notes", "reviews", "shipments")
_NEW_TEXTS = ("Lisbon", "Ada Moss", "blue", "pending")
_NUMBERS = frozenset({"real", "integer", "numeric", "float", "int"})
_PATH_WORDS = frozenset({"path", "file", "directory", "folder", "repository"})
_FOLDER_WORDS = frozenset({"directory", "folder", "repository"})
_FILES = frozenset({"file", "directory", "folder", "document"})
_NEW_WORDS = frozenset({"destination", "target", "output", "new"})
_OLD_WORDS = frozenset({"base", "source", "old", "from", "parent"})
_KEY_WORDS = frozenset({"name", "id", "key", "path", "title", "slug"})
_MOST_NODES = 60
_LEAST_OF_OPTIONAL = 1.5  # score; an argument that one can leave out takes no far-fetched value


@dataclass(frozen=True)
class Place:
    """A place for a scalar in the arguments of a tool.

    Attributes:
        name: `query`, `observations.entityName`.
        slot: What its schema says.
        is_required: Whether every call has it.
        is_listed: Whether it is an item of a list, or in one.
    """

    name: str
    slot: Slot
    is_required: bool
    is_listed: bool

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for name in self.slot.names for word in words_of(name))

    @cached_property
    def described(self) -> frozenset[str]:
        """The words of its description."""
        return frozenset(words_of(self.slot.description))


def places_of(tool: Tool) -> list[Place]:
    """The places of a tool's arguments; none if its schema cannot be filled."""
    try:
        return list(_places(shape_of(tool).top, True, False))[:_MOST_NODES]
    except UnfillableError:
        return []


def _places(node: Node, is_required: bool, is_listed: bool) -> Iterator[Place]:
    if isinstance(node, Slot):
        yield Place(".".join(node.names), node, is_required, is_listed)
    elif isinstance(node, Listed):
        yield from _places(node.items[-1], is_required, True)
    elif isinstance(node, Choice):
        yield from _places(node.options[0], is_required, is_listed)
    elif isinstance(node, Group):
        for name, one in node.fields.items():
            inner = _node_of(one)
            if inner is not None and not isinstance(inner, Fixed):
                yield from _places(inner, is_required and name in node.required, is_listed)


def _node_of(one: Field) -> Node | None:
    try:
        return one.node
    except UnfillableError:
        return None


@dataclass
class Known:
    """What is known of a server.

    Attributes:
        facts: The facts, by value and name.
        files: Files of the workspace, as `/workspace/…`.
        folders: Its folders.
        columns: The columns of each table of a database, with their types.
    """

    facts: dict[tuple[Any, tuple[str, ...], tuple[str, ...]], Fact] = field(default_factory=dict)
    files: Sequence[str] = ()
    folders: Sequence[str] = ()
    columns: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, facts: Sequence[Fact]) -> None:
        """Add facts."""
        for fact in facts:
            self.facts.setdefault((fact.value, fact.name, fact.thing), fact)

    def candidates(self, tool: Tool, place: Place, rng: random.Random) -> list[Any]:
        """Values that a place could take, the likeliest first; none if nothing is known of it."""
        slot = place.slot
        if slot.keywords.enum is not None or slot.keywords.type == "boolean":
            return []
        if slot.keywords.type == "string":
            if (words_of(tool.description) + words_of(slot.description)).count("sql") and self.columns:
                return statements(tool, slot.description, self.columns, rng)
            if slot.key == "glob" or place.words & {"pattern", "glob"}:
                return self._patterns(place)
            if self._is_path(place):
                return self._paths(tool, place, rng)
        return [value for value in self._facts(tool, place) if slot.allows(value)]

    def _is_path(self, place: Place) -> bool:
        is_path = place.slot.key in _PATH_KEYS or bool(place.words & _PATH_WORDS)
        is_path = is_path or (bool(place.words & (_NEW_WORDS | _OLD_WORDS)) and "file" in place.slot.about)
        return is_path and bool(self.files or self.folders)

    def _patterns(self, place: Place) -> list[str]:
        if place.words & {"exclude", "ignore"}:
            return []
        endings = dict.fromkeys(PurePosixPath(path).suffix for path in self.files)
        names = dict.fromkeys(PurePosixPath(path).name for path in self.files)
        return [f"**/*{one}" for one in endings if one] + [f"**/{name}" for name in names]

    def _paths(self, tool: Tool, place: Place, rng: random.Random) -> list[str]:
        """Paths of the workspace; for what is made or moved to, a new one in a folder of the workspace."""
        makes_file = verb_of(tool, None) == "make" and bool(_FILES & {*name_words(tool)})
        is_reader = tool.annotations.get("readOnlyHint") is True
        is_new = (makes_file and not is_reader) or bool(place.words & _NEW_WORDS)
        if is_new and not place.words & _OLD_WORDS:
            stem, year = rng.choice(_NEW_STEMS), rng.randrange(2024, 2035)
            endings = sorted({PurePosixPath(path).suffix for path in self.files}) or [".txt"]
            is_folder = bool({"directory", "folder"} & {*name_words(tool)})
            ending = "" if is_folder else rng.choice(endings)
            return [f"{folder}/{stem}-{year}{ending}" for folder in _shuffled(self.folders, rng)]
        relative = [
            path.removeprefix(f"{folder}/")
            for folder in self.folders
            for path in self.files
            if path.startswith(f"{folder}/")
        ]
        files, folders = _shuffled(self.files, rng), _shuffled(self.folders, rng)
        if place.words & _FOLDER_WORDS or _FOLDER_WORDS & {*name_words(tool)}:
            files, folders = folders, files
        return [*files, *folders, *_shuffled(relative, rng)]

    def _facts(self, tool: Tool, place: Place) -> list[Any]:
        """The facts that fit best by their words."""
        made = things_of_tool(tool, None)
        # "open_nodes" reads, although one can open a new account.
        if verb_of(tool, None) == "make" and made and tool.annotations.get("readOnlyHint") is not True:
            # "branch_name" of "create_branch" is that of the new branch.
            own = place.words - _KEY_WORDS
            is_own = (not own or own <= {*made[0].thing}) and bool(place.words & _KEY_WORDS)
            if is_own and not place.words & _OLD_WORDS:
                return []
        about = frozenset(words_of(tool.description[:200])) | {word for one in made for word in one.thing}
        scored: list[tuple[float, Any]] = []
        for fact in self.facts.values():
            score = self._fit(fact, place, about)
            if score > 0:
                scored.append((score, fact.value))
        best = max((score for score, _ in scored), default=0)
        if best < _LEAST_OF_OPTIONAL and not place.is_required:
            return []
        return list(dict.fromkeys(value for score, value in scored if score >= best - 0.5))

    def _fit(self, fact: Fact, place: Place, about: frozenset[str]) -> float:
        """How well a fact fits a place: by the words of its name, its description and its tool."""
        name, thing = frozenset(fact.name), frozenset(fact.thing)
        score = 0.0
        if fact.name[-1:] and fact.name[-1] in place.words:
            is_of = thing & (place.words | place.described | about)
            score += 2.0 if fact.name[-1] not in _KEY_WORDS or is_of else 0.0
        score += 1.5 * bool(thing & place.words - _KEY_WORDS) * bool(name & _KEY_WORDS or name == thing)
        score += 1.0 * bool((name - _KEY_WORDS) & place.described)
        score += 0.75 * bool(thing & place.described) * bool(name & (_KEY_WORDS & place.described))
        if not score and not place.described and (name - _KEY_WORDS) & about and place.is_required:
            score = 0.5
        return score


def statements(
    tool: Tool, description: str, columns: dict[str, list[tuple[str, str]]], rng: random.Random
) -> list[str]:
    """SQL statements of the kind that a tool's description names, on tables that are there."""
    said = {*words_of(description), *words_of(tool.description), *name_words(tool)}
    found: list[str] = []
    for table, typed in columns.items():
        names = [name for name, _ in typed]
        texts = [name for name, kind in typed if "char" in kind.lower() or "text" in kind.lower()]
        numbers = [name for name, kind in typed if kind.lower() in _NUMBERS]
        key = f"{names[0]} = {rng.randrange(1, 4)}"
        if {"create"} & said and "table" in said:
            columns_of_new = f"id INTEGER PRIMARY KEY, {rng.choice(names)} TEXT, created TEXT"
            found.append(f"CREATE TABLE {rng.choice(_NEW_TABLES)} ({columns_of_new})")
        elif {"insert", "update", "delete", "write"} & said:
            found.append(f"DELETE FROM {table} WHERE {key}")
            if texts:
                value = rng.choice(_NEW_TEXTS)
                found.append(f"UPDATE {table} SET {rng.choice(texts)} = '{value}' WHERE {key}")
        else:
            found += [f"SELECT * FROM {table}", f"SELECT COUNT(*) FROM {table}"]
            found.append(f"SELECT {', '.join(rng.sample(names, min(2, len(names))))} FROM {table}")
            found += [f"SELECT MAX({name}) FROM {table}" for name in numbers[1:2]]
            found += [f"SELECT DISTINCT {name} FROM {table}" for name in texts[:1]]
    return _shuffled(found, rng)


def _shuffled(items: Sequence[str], rng: random.Random) -> list[str]:
    return rng.sample(list(items), len(items))
