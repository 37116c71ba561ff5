"""The evidence that a field of one tool's result fills an argument of another, as a score with reasons."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from toolassay.graph.derive.fields import (
    IDENTITIES,
    Given,
    Owner,
    Route,
    Taken,
    Words,
    attribute_fit,
    in_words,
    is_control,
    meaning_of,
    meanings_said,
    noun_phrase,
    same_thing,
    things_of_tool,
    word_list,
    words_of,
)
from toolassay.graph.derive.given_fields import is_informative, scalar_of
from toolassay.graph.links import FieldPair
from toolassay.tools.library import Tool

# The best match of names and types alone; other evidence lowers it.
_BEST = 0.95
_EMBEDDED = 0.8  # an object inside what the tool is about
_REFERENCE = 0.85  # an id within it that says of what: `team_id`
_REPEATED = 0.3  # an object inside what the tool creates or changes, which its caller knows
_OPTIONAL = 0.85
_ECHO = 0.2  # the result repeats an argument of its own tool
_WRITTEN = 0.6  # what one thing has is rarely written into another
_OTHER_PARENT = 0.4  # a collection of the same name within another one
_NEEDS_MORE = 0.7  # no other required argument comes from the source or its arguments
_VERBS = {"search": 1.0, "find": 0.94, "make": 0.75, "": 0.9, "change": 0.8, "remove": 0.1}
_OTHER_SERVER = 0.75
_LISTED_ID = 0.75  # a list of plain values, named after things, for the id of one: `accounts`
_LOOSE_ID = 0.75  # a text for an id that is a number, or the other way round
_SIMILAR = 0.3  # similarity of descriptions from which it counts in full
_NAMED = 0.85  # certainty of what a tool's name or a field's name says
_NARROWER = 0.5  # a card may be a gift card, or not
_ALIKE = 0.7  # of `same_thing`, from which a result repeats an argument
KNOWN_BY = IDENTITIES | {"name", "slug", "key", "number", "code"}  # one of them is as good as another
_NAMING = frozenset({"path", "name", "url", "username"})  # attributes by which a text names a thing
_NUMBERS = frozenset({"integer", "number"})


@dataclass(frozen=True)
class ToolFields:
    """What is known of one tool.

    Attributes:
        tool: The tool.
        route: The path of its operation.
        verb: What it does with its thing (see `verb_of`).
        taken: Its arguments that may come from elsewhere.
        given: The fields of its result.
    """

    tool: Tool
    route: Route | None
    verb: str
    taken: Sequence[Taken]
    given: Sequence[Given]

    @cached_property
    def needs(self) -> list[Taken]:
        """The required arguments that refer to something."""
        return [
            argument
            for argument in self.taken
            if argument.required and not (argument.is_said or argument.is_written)
        ]

    @cached_property
    def asked_with(self) -> dict[tuple[Any, ...], str]:
        """The paths of its arguments, which the caller knows, by what they mean and by their names."""
        listed = {argument.path for argument in self.taken if argument.listed}
        named = {
            (words_of(parameter.name), parameter.name in listed): parameter.name
            for parameter in self.tool.parameters
            if meaning_of(parameter.name).thing
        }
        return named | {
            argument.key: argument.path for argument in reversed(self.taken) if not argument.is_said
        }

    def known(self, taken: Taken) -> str:
        """The argument with the value of another tool's argument; empty if there is none."""
        by_name = self.asked_with.get((words_of(taken.path), taken.listed), "")
        return self.asked_with.get(taken.key, by_name)

    @cached_property
    def about(self) -> tuple[Words, ...]:
        """What it is about, the most certain name first."""
        return tuple(owner.thing for owner in things_of_tool(self.tool, self.route))

    @cached_property
    def lists(self) -> bool:
        """Whether it returns things that its caller did not name."""
        return self.verb in ("find", "search") and _lists(self)

    @property
    def acts(self) -> bool:
        """Whether it does more than read."""
        return self.verb not in ("find", "search") and not self.tool.is_marked_reading

    @cached_property
    def is_informative(self) -> bool:
        """Whether its schema says what is in its result."""
        return self.tool.output_schema is not None and is_informative(self.tool.output_schema)

    @cached_property
    def fixed(self) -> frozenset[str]:
        """The fixed parts of the path."""
        return frozenset(self.route.fixed if self.route else ())


class Match(NamedTuple):
    """A field that may fill an argument, how likely, and why."""

    score: float
    given: Given
    taken: Taken
    owner: Owner

    @property
    def flows(self) -> bool:
        """Whether the value is a scalar at a known place, so that it can fill the argument."""
        if not self.taken.path:
            return False  # a tool without declared arguments
        if not self.given.is_described:
            return True
        is_named = self.owner.certainty >= _NAMED and not self.given.listed
        is_meant = bool(self.given.attribute) or not self.taken.attribute
        return is_named and is_meant and bool(self.given.kinds & self.taken.kinds)


def type_fit(given: Given, taken: Taken) -> float:
    """How well types, formats and allowed values agree, from 0 to 1; unknown ones agree."""
    fit = _kind_fit(given.kinds, taken.kinds)
    if not fit or (given.values and taken.values and not given.values & taken.values):
        return 0.0
    if taken.values and not given.values and not (taken.collection or (taken.route and taken.attribute)):
        return 0.25  # a key in a path may have all its values listed
    if given.format and taken.format and given.format != taken.format and "string" in given.kinds:
        return 0.3
    # Documents often declare ids carelessly, but a title is no number.
    return max(fit, _LOOSE_ID) if given.attribute in IDENTITIES else fit


def _kind_fit(given: frozenset[str], taken: frozenset[str]) -> float:
    if not given or not taken or given & taken:
        return 1.0
    if given <= _NUMBERS and taken <= _NUMBERS:
        return 0.95
    if "string" in taken and given & _NUMBERS:
        return 0.9
    if "string" in given and taken & _NUMBERS:
        return 0.3
    return 0.0


def name_fit(given: Given, owner: Owner, taken: Taken) -> float:
    """How likely the names refer to the same attribute of the same thing, from 0 to 1."""
    thing = same_thing(owner.thing, taken.thing)
    if not thing or not same_thing(owner.full or owner.thing, taken.full or taken.thing):
        return 0.0  # an issue's comment is not that of a discussion
    if taken.is_said and not taken.attribute and (owner.thing != taken.thing or owner.certainty < _NAMED):
        return 0.0
    if thing < _ALIKE + 0.1 and len(taken.thing) > len(owner.thing):
        thing = _NARROWER
    if given.is_described and not given.attribute:
        identifies = not taken.attribute or attribute_fit("id", taken.attribute) > 0
        return thing * owner.certainty * (0.9 if identifies or taken.attribute in _NAMING else 0.0)
    fit = attribute_fit(given.attribute, taken.attribute)
    if given.path.endswith("[]") and not given.attribute and taken.attribute in IDENTITIES:
        fit = _LISTED_ID
    return thing * owner.certainty * fit


def match(source: ToolFields, given: Given, owner: Owner, taken: Taken) -> Match | None:
    """The evidence from the two fields alone; None if they cannot fit."""
    score = _BEST * name_fit(given, owner, taken)
    if not score:
        return None
    score *= 1 if given.is_described else type_fit(given, taken)
    if given.is_measure and (not taken.required or given.kinds != taken.kinds or owner.certainty < 1):
        return None
    if not (given.own or given.is_described):
        asked = (owner.thing, given.attribute, False) in source.asked_with
        is_new = not given.depth and not asked
        embedded = _REFERENCE if given.is_reference else _EMBEDDED
        score *= embedded if is_new or source.verb in ("search", "find", "") else _REPEATED
    if not score:
        return None
    if not taken.required and taken.path:
        score *= _OPTIONAL
    if taken.is_written and not given.own and (given.is_measure or given.has_id_beside):
        score *= _WRITTEN
    if is_echo(source, given, owner, taken):
        score *= _ECHO
    return Match(score, given, taken, owner)


def is_echo(source: ToolFields, given: Given, owner: Owner, taken: Taken) -> bool:
    """Whether a result only repeats what its tool was asked with.

    An item of a list has an id of its own: the films similar to a film are others. An email address of a user
    is news to who asked with the user's id; another name of the user is not.
    """
    is_item = given.listed and not given.depth
    is_single = not given.listed and source.verb in ("find", "search")
    # The one thing that was asked for is no other in a list, and plain values are no ids of what lists them.
    is_many = bool(given.attribute) and not (source.route and source.route.ends_in_parameter)
    if given.own and given.listed and is_many and not given.is_described:
        # Unless the items are those whose ids were given.
        return any(
            argument.listed and argument.required and same_thing(owner.thing, argument.thing)
            for argument in source.taken
        )
    identifies = not taken.attribute or taken.attribute in KNOWN_BY
    return any(
        same_thing(owner.thing, argument.thing) >= _ALIKE
        and (
            # With its id, all of a thing is known; with its name, the name.
            (identifies and (argument.attribute in IDENTITIES or argument.attribute in ("", taken.attribute)))
            or attribute_fit(given.attribute, argument.attribute) >= 0.5
        )
        for argument in source.taken
        # A search that may be narrowed to a person finds others, too.
        if (argument.required or is_single or not (given.own or is_item))
        and (given.is_described or bool(argument.route) or not argument.listed)
    )


def route_fit(source: ToolFields, taken: Taken, rivals: int) -> float:
    """Whether the source is in the same part of the service, where several have things of one name.

    Args:
        source: The tool that gives the value.
        taken: The argument.
        rivals: The number of different paths that lead to things of this name.
    """
    collection = taken.collection
    if rivals < 2 or source.route is None or not collection:
        return 1.0
    is_there = source.fixed.issuperset(collection) or set(source.route.fixed[:-1]) <= set(collection)
    return 1.0 if is_there else _OTHER_PARENT  # the notes of merge requests are not those of issues


def link_score(source: ToolFields, target: ToolFields, matches: Sequence[Match]) -> float:
    """The score of a link: that of its best match, the first, with what is known of the two tools."""
    best = matches[0]
    score = best.score
    score *= _VERBS[source.verb]
    if best.given.is_described:
        score *= same_server(source, target)
    return score * (_NEEDS_MORE + (1 - _NEEDS_MORE) * covered(source, target, matches))


def same_server(source: ToolFields, target: ToolFields) -> float:
    """Names and descriptions of different servers are compared with less trust."""
    return 1.0 if source.tool.source.get("server") == target.tool.source.get("server") else _OTHER_SERVER


def with_similarity(score: float, similarity: float, *, is_described: bool) -> float:
    """A score, lowered for tools whose descriptions differ: by at most 4 %, or 20 % without schemas."""
    least = 0.8 if is_described else 0.96
    return score * (least + (1 - least) * min(1.0, similarity / _SIMILAR))


def covered(source: ToolFields, target: ToolFields, matches: Sequence[Match]) -> float:
    """The share of the target's required arguments that the source gives, or was itself asked with."""
    return 1 - len(_missing(source, target, matches)) / len(target.needs) if target.needs else 1.0


def addresses(tools: Iterable[ToolFields]) -> frozenset[Words]:
    """The names of what calls need that read or remove: they say which thing a call is about."""
    return frozenset(
        words_of(argument.path)
        for tool in tools
        if tool.verb in ("find", "remove")
        for argument in tool.needs
    )


def shared_arguments(
    source: ToolFields, target: ToolFields, matches: Sequence[Match], about: Container[Words]
) -> tuple[FieldPair, ...]:
    """The required arguments of the target with which the source was asked, too; no choices or defaults.

    `about` are `addresses`: two messages that are sent do not have the same text.
    """
    fed = {match.taken.path for match in matches if match.flows}
    fed |= {
        parameter.name for parameter in target.tool.parameters if "default" in parameter.declaration
    }  # a version
    return tuple(
        FieldPair(path, argument.path)
        for argument in target.needs
        if argument.path not in fed and not argument.values and words_of(argument.path) in about
        if (path := source.known(argument))
    )


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def reasons(
    source: ToolFields, target: ToolFields, matches: Sequence[Match], common: Sequence[FieldPair]
) -> list[str]:
    """Why there is a link, one clause each, the most important first."""
    clauses = [_names(source, match) for match in matches]
    best = matches[0]
    if best.given.kinds & best.taken.kinds and not best.given.is_described:
        kinds = " or ".join(sorted(best.given.kinds & best.taken.kinds))
        form = (
            f" ({best.taken.format})" if best.taken.format and best.taken.format == best.given.format else ""
        )
        clauses.append(f"both are of type {kinds}{form}")
    if best.given.values & best.taken.values:
        clauses.append("their allowed values overlap")
    if best.given.listed and best.given.own and source.verb in ("search", "find"):
        clauses.append(
            f"the source {'finds' if source.verb == 'search' else 'lists'} what the target works on"
        )
    if best.taken.required:
        clauses.append(f"`{best.taken.path}` is required")
    if common:
        clauses.append(f"{_listed(pair.target for pair in common)}: the one that the source was asked with")
    if missing := _missing(source, target, matches):
        clauses.append(f"{_listed(missing)} must come from elsewhere")
    return clauses


def _names(source: ToolFields, match: Match) -> str:
    taken = f"`{match.taken.path}`" if match.taken.path else "the name of the target"
    if match.owner.why.startswith("the description of"):
        return match.owner.why
    if match.given.is_described:
        what = in_words(match.owner.thing, "")
        return f"{match.owner.why} says that the result is about {what}, which {taken} names"
    where = f"`{match.given.path}`"
    what = in_words(match.owner.thing, match.given.attribute)
    name = meaning_of(match.given.path.rpartition(".")[2])
    if name.thing and name == meaning_of(match.taken.path.rpartition(".")[2]):
        return f"{where} and {taken} have the same name"
    return f"{where} is {what} ({match.owner.why}), which {taken} takes"


def _missing(source: ToolFields, target: ToolFields, matches: Sequence[Match]) -> list[str]:
    fed = [match.taken.path for match in matches]
    return [
        argument.path for argument in target.needs if argument.path not in fed and not source.known(argument)
    ]


# What a description says that a tool returns: "files in a path" in "Lists files in a path".
_RETURNED = re.compile(
    r"\b(?:returns?|returning|lists?|listing of|lists? of|gets?|fetch(?:es)?|retrieves?|finds?|"
    r"search(?:es)? for|shows?|provides?|creates?|discovers?|displays?)\s+(?P<what>[^.;:()\n]{3,120})",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z][\w.-]{3,}")
_MENTIONED = 0.9


def described_fields(tool_fields: ToolFields, wanted: frozenset[str]) -> list[Given]:
    """What a tool may give by its name and description; nothing if its schema says what it gives."""
    if tool_fields.is_informative or tool_fields.verb in ("remove", "change"):
        return []
    if tool_fields.route is not None and tool_fields.verb == "":
        return []
    if (
        tool_fields.route is not None
        and tool_fields.route.ends_in_parameter
        and is_control(tool_fields.route.parts[-1].strip("{}"))
    ):
        return []  # "/cards/{id}/board/{field}" returns one property
    owners_by_attribute: dict[str, dict[Words, Owner]] = defaultdict(dict)
    attribute = "" if tool_fields.route else meaning_of(" ".join(noun_phrase(tool_fields.tool))).attribute
    for owner in things_of_tool(tool_fields.tool, tool_fields.route):
        owners_by_attribute[attribute].setdefault(owner.thing, owner)
    listed = _lists(tool_fields)
    for phrase in _RETURNED.finditer(tool_fields.tool.description[:2_000]):
        # "the details of a user, including their orders": several orders to choose from
        several = {
            words_of(word)[-1:] for word in phrase["what"].split() if words_of(word) != (word.lower(),)
        }
        for thing, attribute in meanings_said(phrase["what"])[:_MOST_SAID]:
            is_listed = listed or thing[-1:] in several
            for start in range(len(thing)):
                owner = Owner(thing[start:], 0.75 if is_listed else 0.6, "its description", thing)
                owners_by_attribute[attribute].setdefault(owner.thing, owner)
    return [
        _described(tool_fields, known, listed, attribute)
        for attribute, owners in owners_by_attribute.items()
        if (known := tuple(owner for owner in owners.values() if owner.thing[-1] in wanted))
    ]


_MOST_SAID = 2


def _described(
    tool_fields: ToolFields, owners: tuple[Owner, ...], listed: bool, attribute: str = ""
) -> Given:
    """The result of a tool whose schema does not say what is in it."""
    path, kinds = scalar_of(tool_fields.tool.output_schema)
    nothing: frozenset[str] = frozenset()
    return Given(path, owners, attribute, kinds, "", nothing, listed, True, 0, nothing, is_described=True)


def _lists(tool_fields: ToolFields) -> bool:
    """Whether a tool returns things that its caller did not name: "list_files", not "get_file_details"."""
    name = str(tool_fields.tool.source.get("name") or tool_fields.tool.id)
    words = words_of(name)
    plural = name[-1:].casefold() == "s" and not name.casefold().endswith((*words[-1:], "details"))
    return plural or bool(word_list("listing") & set(words))


def mentions(tools: Sequence[ToolFields]) -> dict[int, dict[int, Match]]:
    """The arguments whose description names another tool ("the id that search_movies returns").

    Returns:
        By the number of the tool that is named, then of the tool that takes the argument.
    """
    numbers: dict[str, int] = {}
    for number, tool_fields in enumerate(tools):
        for name in (tool_fields.tool.id, str(tool_fields.tool.source.get("name") or tool_fields.tool.id)):
            # A name of one plain word would be found in any text.
            if len(words_of(name)) > 1:
                numbers.setdefault(name.casefold(), number)
    mentioned: dict[int, dict[int, Match]] = {}
    for target, tool_fields in enumerate(tools):
        for taken in tool_fields.taken:
            for word in _NAME.findall(taken.description):
                source = numbers.get(word.strip(".-").casefold())
                if source is None or source == target or tools[source].known(taken):
                    continue
                why = f"the description of `{taken.path}` names `{tools[source].tool.id}`"
                given = _described(tools[source], (), True)
                mentioned.setdefault(source, {})[target] = Match(
                    _MENTIONED, given, taken, Owner(taken.thing, 0.9, why)
                )
    return mentioned


class Similarity:
    """The cosine similarity of texts about tools, by TF-IDF (scikit-learn).

    Args:
        texts: One of each tool.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
        try:
            self._rows = vectorizer.fit_transform(texts)
        except ValueError:  # no words at all
            self._rows = None

    def of(self, source: int, targets: Sequence[int]) -> list[float]:
        """The similarity of a tool with each of others, from 0 to 1."""
        if self._rows is None or not targets:
            return [0.0] * len(targets)
        similarities = self._rows[list(targets)] @ self._rows[source].T
        return [float(value) for value in similarities.toarray().ravel()]
