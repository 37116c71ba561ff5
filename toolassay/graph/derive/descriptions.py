"""Evidence from names and descriptions, for tools whose results have no schema."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from toolassay.graph.derive.evidence import Match, ToolFields
from toolassay.graph.derive.fields import Given, Owner, things_of_tool
from toolassay.graph.derive.names import is_control, word_list, words_of

# What a description says that a tool returns: "files and folders" in "Lists files and folders in a path". Not
# what follows a preposition.
_RETURNED = re.compile(
    r"\b(?:returns?|returning|lists?|listing of|lists? of|gets?|fetch(?:es)?|retrieves?|finds?|"
    r"search(?:es)? for|shows?|provides?|creates?|discovers?|displays?)\s+(?P<what>[^.;:,()\n]{3,90})",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:in|from|for|by|with|using|based|to|at|on|within|given|via|under|matching|that|which|whose|between)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z][\w.-]{3,}")
_MENTIONED = 0.9
_LONGEST = 1_000  # characters of a description that are compared


def described_fields(one: ToolFields, wanted: frozenset[str]) -> list[Given]:
    """The result of a tool without a schema: one field that may be any of the things it is said to return."""
    if any(given.own for given in one.given) or one.verb == "remove":
        return []
    if one.route is not None and (one.described.kinds or one.verb not in ("search", "find")):
        return []
    if one.route is not None and one.route.ends_in_parameter and is_control(one.route.parts[-1].strip("{}")):
        return []  # "/cards/{id}/board/{field}" returns one property
    owners: dict[tuple[str, ...], Owner] = {}
    if one.verb in ("search", "find", "make", ""):
        for owner in things_of_tool(one.tool, one.route):
            owners.setdefault(owner.thing, owner)
    listed = _lists(one)
    for found in _RETURNED.finditer(one.tool.description[:2_000]):
        text = _PREPOSITION.split(found["what"])[0]
        for word in words_of(text):
            word = "url" if word in ("link", "uri", "href") else word
            if word in wanted:
                owners.setdefault((word,), Owner((word,), 0.75 if listed else 0.6, "its description"))
    known = tuple(owner for owner in owners.values() if owner.thing[-1] in wanted)
    if not known:
        return []
    return [_described(one, known, listed)]


def _described(one: ToolFields, owners: tuple[Owner, ...], listed: bool) -> Given:
    path, kinds = one.described
    nothing: frozenset[str] = frozenset()
    return Given(path, owners, "", kinds, "", nothing, listed, True, 0, nothing, is_described=True)


def _lists(one: ToolFields) -> bool:
    """Whether a tool returns things that its caller did not name: "list_files", "getStories"."""
    name = str(one.tool.source.get("name") or one.tool.id)
    words = words_of(name)
    plural = (
        name[-1:].casefold() == "s" and words[-1:] != (name.casefold(),) and not name.endswith(words[-1:])
    )
    return plural or bool(word_list("listing") & set(words))


def mentions(tools: Sequence[ToolFields]) -> dict[int, dict[int, Match]]:
    """The arguments whose description names another tool ("the id that search_movies returns").

    Returns:
        By the number of the tool that is named, then of the tool that takes the argument.
    """
    numbers: dict[str, int] = {}
    for number, one in enumerate(tools):
        for name in (one.tool.id, str(one.tool.source.get("name") or one.tool.id)):
            # A name of one plain word would be found in any text.
            if len(words_of(name)) > 1:
                numbers.setdefault(name.casefold(), number)
    found: dict[int, dict[int, Match]] = {}
    for target, one in enumerate(tools):
        for taken in one.taken:
            for word in _NAME.findall(taken.description):
                source = numbers.get(word.strip(".-").casefold())
                if source is None or source == target:
                    continue
                why = f"the description of `{taken.path}` names `{tools[source].tool.id}`"
                given = _described(tools[source], (), True)
                found.setdefault(source, {})[target] = Match(
                    _MENTIONED, given, taken, Owner(taken.thing, 0.9, why)
                )
    return found


class Similarity:
    """The cosine similarity of the names and descriptions of tools, by TF-IDF (scikit-learn).

    Args:
        tools: The tools.
    """

    def __init__(self, tools: Sequence[ToolFields]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = [
            " ".join(
                (*words_of(str(one.tool.source.get("name") or one.tool.id)), one.tool.description[:_LONGEST])
            )
            for one in tools
        ]
        vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
        try:
            self._rows = vectorizer.fit_transform(texts)
        except ValueError:  # no words at all
            self._rows = None

    def of(self, source: int, targets: Sequence[int]) -> list[float]:
        """The similarity of a tool with each of others, from 0 to 1."""
        if self._rows is None or not targets:
            return [0.0] * len(targets)
        found = self._rows[list(targets)] @ self._rows[source].T
        return [float(value) for value in found.toarray().ravel()]
