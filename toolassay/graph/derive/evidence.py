"""The evidence that a field of one tool's result fills an argument of another, as a score with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from toolassay.graph.derive.fields import Given, Owner, Route, Taken, in_words
from toolassay.graph.derive.given_fields import DescribedPlace, described_place
from toolassay.graph.derive.names import IDENTITIES, Words, attribute_fit, meaning_of, same_thing
from toolassay.graph.links import FieldPair
from toolassay.tools import Tool

# The best match of names and types alone; other evidence lowers it.
_BEST = 0.95
_DESCRIBED = 0.95  # of that for a result without a schema
_EMBEDDED = 0.7  # an object inside what the tool is about
_REPEATED = 0.3  # an object inside what the tool creates or changes, which its caller knows
_DEEPER = 0.85  # each further object around the field
_OPTIONAL = 0.85
_VAGUE = 0.55  # an optional argument and a field of one name, neither of which identifies anything
_ECHO = 0.2  # the result repeats an argument of its own tool
_OTHER_PARENT = 0.4  # a collection of the same name within another one
_OTHER_ROUTE = 0.5  # another collection of the same name
_NEEDS_MORE = 0.7  # none of what the tool needs besides comes from the source or its arguments
_SCOPED = 0.4  # a number or name means little without what it is a number or name in
_UNDONE = 0.5  # what a tool creates is rarely removed next, and has nothing inside yet
_EACH_NEED = 0.97  # the source itself needs an argument from elsewhere
_VERBS = {"search": 1.0, "find": 0.94, "make": 0.75, "": 0.9, "change": 0.8, "remove": 0.1}
_FURTHER = 0.1  # how far each of two further fields raises the score
_SINGLE = 0.93  # not a list to choose from
_OTHER_SERVER = 0.75
_LOOSE_ID = 0.75  # a text for an id that is a number, or the other way round
_SIMILAR = 0.3  # similarity of descriptions from which it counts in full
_NARROWER = 0.5  # a card may be a gift card, or not
_ALIKE = 0.7  # of `same_thing`, from which a result repeats an argument
_KNOWN_BY = IDENTITIES | {"name", "slug", "key", "number", "code"}  # one of them is as good as another
_NAMING = frozenset({"path", "name", "url", "username", "email"})  # attributes by which a text names a thing
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
        """The required arguments."""
        return [one for one in self.taken if one.required]

    @cached_property
    def described(self) -> DescribedPlace:
        """What its description speaks of."""
        return described_place(self.tool.output_schema)

    @cached_property
    def asked_with(self) -> frozenset[tuple[Words, str]]:
        """The things and attributes of the arguments, which the caller knows."""
        return frozenset((one.thing, one.attribute) for one in self.taken)

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


def type_fit(given: Given, taken: Taken) -> float:
    """How well types, formats and allowed values agree, from 0 to 1; unknown ones agree."""
    fit = _kind_fit(given.kinds, taken.kinds)
    if not fit or (given.values and taken.values and not given.values & taken.values):
        return 0.0
    if taken.values and not given.values:
        return 0.25
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
    if not thing:
        return 0.0
    if thing < _ALIKE + 0.1 and len(taken.thing) > len(owner.thing):
        thing = _NARROWER
    if given.is_described:
        identifies = not taken.attribute or attribute_fit("id", taken.attribute) > 0
        return thing * owner.certainty * (0.9 if identifies or taken.attribute in _NAMING else 0.7)
    return thing * owner.certainty * attribute_fit(given.attribute, taken.attribute)


def match(source: ToolFields, given: Given, owner: Owner, taken: Taken) -> Match | None:
    """The evidence from the two fields alone; None if they cannot fit."""
    score = _BEST * name_fit(given, owner, taken)
    if not score:
        return None
    score *= type_fit(given, taken)
    if given.is_described:
        score *= _DESCRIBED
    elif not given.own:
        score *= _EMBEDDED if source.verb in ("search", "find", "") else _REPEATED
    if not score:
        return None
    score *= _DEEPER ** max(0, given.depth - 1)
    if not taken.required and taken.path:
        vague = not given.attribute and not taken.attribute and not given.is_described
        score *= _VAGUE if vague else _OPTIONAL
    if is_echo(source, given, owner, taken):
        score *= _ECHO
    return Match(score, given, taken, owner)


def is_echo(source: ToolFields, given: Given, owner: Owner, taken: Taken) -> bool:
    """Whether a result only repeats what its tool was asked with.

    An item of a list has an id of its own: the films similar to a film are others. An email address of a user
    is news to who asked with the user's id; another name of the user is not.
    """
    if given.own and given.listed and not given.is_described:
        # Unless the items are those whose ids were given.
        return any(one.listed and one.required and same_thing(owner.thing, one.thing) for one in source.taken)
    identifies = not taken.attribute or taken.attribute in _KNOWN_BY
    return any(
        same_thing(owner.thing, one.thing) >= _ALIKE
        and (
            # With its id, all of a thing is known; with its name, the name.
            (identifies and (one.attribute in IDENTITIES or one.attribute in ("", taken.attribute)))
            or attribute_fit(given.attribute, one.attribute) >= 0.5
        )
        for one in source.taken
        if (one.required or not given.own) and (given.is_described or not one.listed)
    )


def route_fit(source: ToolFields, taken: Taken, rivals: int) -> float:
    """Whether the source is in the same part of the service, where several have things of one name.

    Args:
        source: The tool that gives the value.
        taken: The argument.
        rivals: The number of different paths that lead to things of this name.
    """
    if rivals < 2 or source.route is None or not taken.route:
        return 1.0
    shared = sum(part in source.fixed for part in taken.route)
    if shared < len(taken.route) and not set(source.route.fixed[:-1]) <= set(taken.route):
        return _OTHER_PARENT  # the notes of merge requests are not those of issues
    return _OTHER_ROUTE + (1 - _OTHER_ROUTE) * shared / len(taken.route)


def link_score(source: ToolFields, target: ToolFields, matches: Sequence[Match]) -> float:
    """The score of a link: that of its best match, the first, with what is known of the two tools."""
    best = matches[0]
    score = best.score
    for further in matches[1:3]:
        score = 1 - (1 - score) * (1 - _FURTHER * further.score)
    score *= _VERBS[source.verb]
    if not best.given.listed and not best.given.is_described:
        score *= _SINGLE
    if best.given.is_described:
        score *= same_server(source, target)
    if best.taken.attribute not in IDENTITIES | {""} and _lacks_scope(source, target, matches):
        score *= _SCOPED
    if source.verb == "make" and (target.verb == "remove" or _lists_inside(target)):
        score *= _UNDONE
    score *= _EACH_NEED ** min(3, len(source.needs))
    return score * (_NEEDS_MORE + (1 - _NEEDS_MORE) * covered(source, target, matches))


def _lists_inside(target: ToolFields) -> bool:
    """Whether a tool lists what another thing contains: "/projects/{id}/tasks"."""
    route = target.route
    return (
        target.verb in ("find", "search")
        and route is not None
        and not route.ends_in_parameter
        and len(route.parts) > len(route.fixed)
    )


def _lacks_scope(source: ToolFields, target: ToolFields, matches: Sequence[Match]) -> bool:
    """Whether an argument that comes earlier in the target's path must come from elsewhere."""
    missing = set(_missing(source, target, matches))
    depth = len(matches[0].taken.route)
    return any(one.path in missing and 0 < len(one.route) < depth for one in target.needs)


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


def shared_arguments(
    source: ToolFields, target: ToolFields, matches: Sequence[Match]
) -> tuple[FieldPair, ...]:
    """The required arguments of the target with which the source was asked, too."""
    fed = {one.taken.path for one in matches}
    known = {(one.thing, one.attribute): one.path for one in reversed(source.taken)}
    return tuple(
        FieldPair(path, one.path)
        for one in target.needs
        if one.path not in fed and (path := known.get((one.thing, one.attribute)))
    )


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def reasons(source: ToolFields, target: ToolFields, matches: Sequence[Match]) -> list[str]:
    """Why there is a link, one clause each, the most important first."""
    found = []
    for one in matches:
        found.append(_names(source, one))
    best = matches[0]
    if best.given.kinds & best.taken.kinds and not best.given.is_described:
        kinds = " or ".join(sorted(best.given.kinds & best.taken.kinds))
        form = (
            f" ({best.taken.format})" if best.taken.format and best.taken.format == best.given.format else ""
        )
        found.append(f"both are of type {kinds}{form}")
    if best.given.values & best.taken.values:
        found.append("their allowed values overlap")
    if best.given.listed and best.given.own and source.verb in ("search", "find"):
        found.append(f"the source {'finds' if source.verb == 'search' else 'lists'} what the target works on")
    if best.taken.required:
        found.append(f"`{best.taken.path}` is required")
    if common := shared_arguments(source, target, matches):
        found.append(f"{_listed(pair.target for pair in common)}: the one that the source was asked with")
    if missing := _missing(source, target, matches):
        found.append(f"{_listed(missing)} must come from elsewhere")
    return found


def _names(source: ToolFields, one: Match) -> str:
    taken = f"`{one.taken.path}`" if one.taken.path else "the name of the target"
    if one.owner.why.startswith("the description of"):
        return one.owner.why
    if one.given.is_described:
        what = in_words(one.owner.thing, "")
        return f"{one.owner.why} says that the result is about {what}, which {taken} names"
    where = f"`{one.given.path}`"
    what = in_words(one.owner.thing, one.given.attribute)
    name = meaning_of(one.given.path.rpartition(".")[2])
    if name.thing and name == meaning_of(one.taken.path.rpartition(".")[2]):
        return f"{where} and {taken} have the same name"
    return f"{where} is {what} ({one.owner.why}), which {taken} takes"


def _missing(source: ToolFields, target: ToolFields, matches: Sequence[Match]) -> list[str]:
    fed = [one.taken.path for one in matches]
    known = source.asked_with
    return [
        one.path for one in target.needs if one.path not in fed and (one.thing, one.attribute) not in known
    ]
