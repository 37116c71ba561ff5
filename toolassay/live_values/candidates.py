"""Candidates: which facts, paths, patterns and statements an argument of a tool could take."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from toolassay.argument_values.allowed_values import allowed_values, quoted_in
from toolassay.argument_values.drawn_values import written_form
from toolassay.argument_values.places import SIMPLE, SchemaWalk, ValuePlace, place_of_parameter
from toolassay.graph.derive.fields import name_words, things_of_tool, tool_verbs, verb_of, words_of
from toolassay.live_values.facts import Fact, Scalar, Words
from toolassay.live_values.results import PROSE
from toolassay.live_values.statements import StatementTable, statements
from toolassay.tools.argument_schemas import kinds_of, properties_at
from toolassay.tools.library import Tool, is_required

_NEW_STEMS = ("summary", "draft", "overview", "backup", "plan", "review", "results", "ideas")
_PATH_WORDS = frozenset({"path", "file", "directory", "folder", "repository"})
_FILES = frozenset({"file", "directory", "folder", "document"})
_NEW_WORDS = frozenset({"destination", "target", "output", "new"})
_OLD_WORDS = frozenset({"base", "source", "old", "from", "parent"})
_KEY_WORDS = frozenset({"name", "id", "key", "path", "title", "slug"})
# "oldText" and "Text to search for" name a text that must be there.
_PRESENT = frozenset({"old", "existing", "exact", "exactly", "search", "find"})
_LINE_WORDS = frozenset({"text", "string", "line", "content"})
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")  # "2026-05-14"
# Places for values that are looked at in one tool; a schema may have thousands.
_MOST_NODES = 60
_DEEPEST = 8  # names on the way to a place
_MOST_FACTS = 4_000  # of a server
_MOST_LINES = 40  # that are remembered of a text
_LONGEST_SEARCH = 30  # characters
_LEAST_OF_OPTIONAL = 1.5  # score; an argument that one can leave out takes no far-fetched value


@dataclass(frozen=True)
class ArgumentPlace:
    """A place for a scalar in the arguments of a tool.

    Attributes:
        name: `query`, `observations.entityName`.
        slot: What its schema says.
        is_required: Whether every call has it.
        is_listed: Whether it is an item of a list, or in one.
    """

    name: str
    slot: ValuePlace
    is_required: bool
    is_listed: bool

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for name in self.slot.path for word in words_of(name))

    @cached_property
    def head(self) -> str:
        """The last word of its own name, in the singular: "path" of `paths` and of `file_path`."""
        return (words_of(self.slot.path[-1]) or ("",))[-1]

    @cached_property
    def described(self) -> frozenset[str]:
        """The words of its description."""
        return frozenset(words_of(self.slot.parameter.description))


def argument_places(tool: Tool) -> list[ArgumentPlace]:
    """The places of a tool's arguments."""
    if tool.input_schema is None:
        return [
            ArgumentPlace(parameter.name, place_of_parameter(parameter), is_required(parameter, tool), False)
            for parameter in tool.parameters
        ]
    return list(
        islice(_places(SchemaWalk(tool.input_schema), tool.input_schema, (), True, False), _MOST_NODES)
    )


def _places(
    walk: SchemaWalk, schema: Any, path: tuple[str, ...], required: bool, listed: bool
) -> Iterator[ArgumentPlace]:
    schema = walk.chosen(schema)
    kinds = kinds_of(schema, walk.root)
    if "const" in schema or len(path) > _DEEPEST:
        return
    if kinds.isdisjoint(SIMPLE) and "array" in kinds:
        yield from _places(walk, schema.get("items"), path, required, True)
    elif kinds.isdisjoint(SIMPLE) and ("object" in kinds or not path):
        for property_ in properties_at(schema, walk.root):
            yield from _places(
                walk, property_.schema, (*path, property_.name), required and property_.required, listed
            )
    else:
        yield ArgumentPlace(".".join(path), walk.place(schema, path), required, listed)


def is_day(argument: ArgumentPlace) -> bool:
    """Whether a place takes an ISO date: by its format, its description or its name."""
    parameter = argument.slot.parameter
    if form := written_form(parameter.description):
        return form == "%Y-%m-%d"
    is_shown = _DAY.search(parameter.description) is not None
    shape = str(parameter.declaration.get("format"))
    return argument.slot.kind == "string" and (
        shape.startswith("date") or is_shown or argument.head == "date"
    )


def _is_written_as(form: str, value: Any) -> bool:
    with suppress(ValueError):
        return bool(datetime.strptime(str(value), form))
    return False


class Known:
    """What is known of a server.

    Args:
        files: Files of the workspace, as `/workspace/…`.
        folders: Its folders.

    Attributes:
        tables: The tables of a database, by name.
        may_write: Whether calls may change something, so that statements that do are candidates.
        hints: Values that a refusal of a tool has quoted, by tool and argument.
        refused: Values that a tool has refused several times, by tool and argument.
    """

    def __init__(self, files: Sequence[str] = (), folders: Sequence[str] = ()) -> None:
        self.files = files
        self.folders = folders
        self._file_names = frozenset(files)
        self._folder_names = frozenset(folders)
        self.tables: dict[str, StatementTable] = {}
        self.may_write = False
        self.hints: dict[tuple[str, str], list[Any]] = defaultdict(list)
        self.refused: dict[tuple[str, str], set[Any]] = defaultdict(set)
        self._facts: dict[tuple[Scalar, Words, Words], Fact] = {}
        self._beside: dict[str, set[str]] = defaultdict(set)
        self._lines: dict[str, list[str]] = {}

    def add(self, facts: Sequence[Fact]) -> None:
        """Add the facts of one result."""
        records: dict[int, set[str]] = defaultdict(set)
        for fact in facts:
            if len(self._facts) < _MOST_FACTS:
                self._facts.setdefault((fact.value, fact.name, fact.thing), fact)
            if fact.record:
                records[fact.record].add(repr(fact.value))
        for values in records.values():
            for value in values:
                if value in self._beside or len(self._beside) < _MOST_FACTS:
                    self._beside[value] |= values

    def add_text(self, path: str, text: str) -> None:
        """Add the content of a file of the workspace."""
        if path in self.files:
            lines = (line.strip() for line in text.splitlines())
            kept_lines = [line for line in lines if 2 < len(line) <= 80 and line.isprintable()]
            if kept_lines:
                self._lines.setdefault(path, kept_lines[:_MOST_LINES])

    def belong_together(self, value: Any, other: Any) -> bool:
        """Whether one object in a result has both values."""
        return repr(other) in self._beside.get(repr(value), ())

    def kind_of(self, value: Any) -> str:
        """The kind of a path of the workspace, whole or relative: "file" or "folder"; else empty."""
        if not isinstance(value, str) or not self.folders:
            return ""
        ends = [value, *(f"{folder}/{value}" for folder in self.folders)]
        if any(end in self._file_names for end in ends):
            return "file"
        return "folder" if any(end in self._folder_names for end in ends) else ""

    def is_value(self, value: Any) -> bool:
        """Whether a value is a fact, or a path of the workspace."""
        return value in self.files or value in self.folders or repr(value) in self._beside

    def candidates(
        self, tool: Tool, argument: ArgumentPlace, rng: random.Random, chosen: Collection[Any] = ()
    ) -> list[Any]:
        """Values that a place could take, the likeliest first; none if nothing is known of it.

        Args:
            tool: The tool.
            argument: The place.
            rng: Random numbers.
            chosen: Values of the call that are chosen already.
        """
        slot = argument.slot
        about = argument.slot.parameter.description
        if slot.kind == "boolean":
            return []
        if allowed := slot.choices or [slot.typed(text) for text in allowed_values(slot.parameter)]:
            return [value for value in allowed if slot.allows(value)]
        if slot.kind == "string":
            if _is_present_text(argument):
                lines = [line for value in chosen for line in self._lines.get(str(value), ())]
                if lines:
                    return _shuffled(lines, rng)
            if is_new_text(tool, argument):
                return []
            if self.tables and "sql" in words_of(f"{tool.description} {about}"):
                may_write = self.may_write and writes(tool)
                return statements(tool, about, self.tables, rng, may_write=may_write)
            if argument.words & {"pattern", "glob"}:
                return [] if argument.words & {"exclude", "ignore"} else self._patterns()
            if self._is_path(tool, argument):
                return self._paths(tool, argument, rng, chosen)
        values = [*self.hints[tool.id, argument.name], *self._fitting(tool, argument)]
        is_search = slot.kind == "string" and not writes(tool) and not is_day(argument)
        if not values and argument.is_required:
            quoted = [slot.typed(text) for text in quoted_in(about)]
            values = quoted or (self._words(rng) if is_search else [])
        form = written_form(about)
        values = [value for value in values if not form or _is_written_as(form, value)]
        return [value for value in dict.fromkeys(values) if slot.allows(value)]

    def _words(self, rng: random.Random) -> list[str]:
        """Short texts of results, and words of them: what a search could find."""
        texts = {fact.value for fact in self._facts.values() if isinstance(fact.value, str)}
        words = {word for text in texts for word in re.findall(r"[^\W\d_]{4,}", text)}
        return _shuffled(sorted(words | {text for text in texts if len(text) <= _LONGEST_SEARCH}), rng)

    def _is_path(self, tool: Tool, argument: ArgumentPlace) -> bool:
        is_path = bool(argument.words & _PATH_WORDS)
        is_about_files = bool(_FILES & {*name_words(tool), *words_of(tool.description[:200])})
        is_path = is_path or (bool(argument.words & (_NEW_WORDS | _OLD_WORDS)) and is_about_files)
        return is_path and bool(self.files or self.folders)

    def _patterns(self) -> list[str]:
        endings = dict.fromkeys(PurePosixPath(path).suffix for path in self.files)
        names = dict.fromkeys(PurePosixPath(path).name for path in self.files)
        return [f"**/*{ending}" for ending in endings if ending] + [f"**/{name}" for name in names]

    def _paths(
        self, tool: Tool, argument: ArgumentPlace, rng: random.Random, chosen: Collection[Any]
    ) -> list[str]:
        """Paths of the workspace; for what is made or moved to, a new one in a folder of the workspace."""
        names = {*name_words(tool)}
        first = words_of(tool.description)[:1]
        makes = verb_of(tool, None) == "make" or first == ("create",)
        is_new = (makes and bool(_FILES & names) and writes(tool)) or bool(argument.words & _NEW_WORDS)
        if is_new and not argument.words & _OLD_WORDS:
            stem = rng.choice(_NEW_STEMS)
            year = rng.randrange(2024, 2035)
            moved = [path for path in chosen if path in self.files or path in self.folders]
            if moved:
                ending = PurePosixPath(moved[0]).suffix if moved[0] in self.files else ""
            elif {"directory", "folder"} & names:
                ending = ""
            else:
                ending = rng.choice(sorted({PurePosixPath(path).suffix for path in self.files}) or [".txt"])
            # A folder cannot be moved into itself.
            inside = [
                folder
                for folder in self.folders
                if not any(f"{folder}/".startswith(f"{old}/") for old in moved)
            ]
            return [f"{folder}/{stem}-{year}{ending}" for folder in _shuffled(inside, rng)]
        if self._lines and any(map(_is_present_text, argument_places(tool))):
            return _shuffled([*self._lines], rng)
        inner = [path.split("/", start)[-1] for path in self.files for start in range(2, path.count("/") + 1)]
        return [*_shuffled(self.files, rng), *_shuffled(self.folders, rng), *_shuffled(inner, rng)]

    def _fitting(self, tool: Tool, argument: ArgumentPlace) -> list[Any]:
        """The facts that fit best by their words."""
        if is_new_text(tool, argument):
            return []
        things = [owner.thing for owner in things_of_tool(tool, None)]
        about = frozenset(words_of(tool.description[:200])) | {word for thing in things for word in thing}
        refused = self.refused[tool.id, argument.name]
        facts = [fact for fact in self._facts.values() if fact.value not in refused]
        scored = [(score, fact) for fact in facts if (score := self._fit(fact, argument, about)) > 0]
        # A person's ID is one whether a list of people or a person has it.
        best_of: dict[Words, float] = defaultdict(float)
        for score, fact in scored:
            best_of[fact.name] = max(best_of[fact.name], score)
        scored = [(best_of[fact.name] if len(fact.name) > 1 else score, fact) for score, fact in scored]
        best = max((score for score, _ in scored), default=0)
        if best < _LEAST_OF_OPTIONAL and not argument.is_required:
            return []
        return [fact.value for score, fact in scored if score >= best - 0.5]

    def _fit(self, fact: Fact, argument: ArgumentPlace, about: frozenset[str]) -> float:
        """How well a fact fits a place: by the words of its name, its description and its tool."""
        name = frozenset(fact.name)
        thing = frozenset(fact.thing)
        score = 0.0
        if fact.name[-1:] and fact.name[-1] in words_of(argument.slot.path[-1]):
            is_of = thing & (argument.words | argument.described | about)
            score += 2.0 if fact.name[-1] not in _KEY_WORDS or is_of else 0.0
            # "entityType" before "relationType", where both end in "type".
            score += 1.0 * (score > 0 and fact.name == words_of(argument.slot.path[-1]))
        score += 1.5 * bool(thing & argument.words - _KEY_WORDS) * bool(name & _KEY_WORDS or name == thing)
        score += 1.0 * bool((name - _KEY_WORDS) & argument.described)
        score += 0.75 * bool(thing & argument.described) * bool(name & (_KEY_WORDS & argument.described))
        if not score and not argument.described and (name - _KEY_WORDS) & about and argument.is_required:
            score = 0.5
        return score


def writes(tool: Tool) -> bool:
    """Whether a tool adds or changes something, as far as its name and its owner say."""
    if tool.is_marked_reading:
        return False  # "open_nodes" reads, although one can open a new account
    return verb_of(tool, None) in ("make", "change", "")


def _made_by(tool: Tool) -> Words:
    """The words of what a tool makes; empty if it makes nothing."""
    if not writes(tool) or verb_of(tool, None) != "make":
        return ()
    things = things_of_tool(tool, None)
    # The server "notes" has a tool "create_note", which is about a note although the server is called so.
    return things[0].thing if things else tuple(word for word in name_words(tool) if word not in tool_verbs())


def is_new_text(tool: Tool, argument: ArgumentPlace) -> bool:
    """Whether a call has another value each time: the name of what it makes, or a text."""
    if not writes(tool):
        return False
    words_of_name = {*words_of(argument.slot.path[-1])}
    made_thing = _made_by(tool)
    is_path = bool(argument.words & _PATH_WORDS)  # a new path is one in a folder that is there
    if (argument.head in PROSE and not words_of_name & _OLD_WORDS) or (
        "new" in words_of_name and not is_path
    ):
        return True
    return bool(made_thing) and not is_path and _is_own_name(argument, made_thing)


def _is_present_text(argument: ArgumentPlace) -> bool:
    """Whether a place takes a line of a text that is there: "oldText"; "Text to search for"."""
    words = argument.words | argument.described
    return argument.slot.kind == "string" and bool(words & _PRESENT and words & _LINE_WORDS)


def _is_own_name(argument: ArgumentPlace, made_thing: Words) -> bool:
    """Whether a place names what is made: "branch_name" of "create_branch", not its "base_branch"."""
    subject_words = argument.words - _KEY_WORDS
    is_own = (not subject_words or subject_words <= {*made_thing}) and bool(argument.words & _KEY_WORDS)
    return is_own and not argument.words & _OLD_WORDS


def _shuffled(items: Sequence[str], rng: random.Random) -> list[str]:
    return rng.sample(list(items), len(items))
