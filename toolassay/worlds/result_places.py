"""Where the result of a tool has the thing that the tool is about."""

from __future__ import annotations

from typing import Any, NamedTuple

from toolassay.argument_values.drawn_results import Path, value_at
from toolassay.graph.derive.fields import Words, is_transparent, same_thing, thing_of
from toolassay.worlds.actions import is_key


class ResultPlace(NamedTuple):
    """The paths of a resource in a result: of the object, and of a list of objects, if any."""

    object: Path
    listed: Path | None


def place_of(value: Any, thing: Words) -> ResultPlace:
    """Where a result has a thing.

    >>> place_of({"page": 1, "users": [{"id": 7}]}, ("user",))
    ResultPlace(object=(), listed=('users',))
    """

    def is_list(value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)

    if not isinstance(value, dict):
        return ResultPlace((), () if is_list(value) else None)
    objects = [(name,) for name, member in value.items() if isinstance(member, dict)]
    paths = [*((name,) for name in value), *((*path, name) for path in objects for name in value[path[0]])]

    def fit(path: Path) -> float:
        thing_of_path = thing_of(path[-1])
        is_wrapper = is_transparent(path[-1])
        if thing_of_path and same_thing(thing_of_path, thing):
            likeness = 3
        elif thing_of_path and not is_wrapper:
            likeness = 1
        else:
            likeness = 2
        return likeness - len(path) / 4

    best = max(objects, key=fit, default=())
    is_inside = bool(best) and fit(best) > 1 and identity_in(value, thing) is None
    lists = [path for path in paths if is_list(value_at(value, path))]
    return ResultPlace(best if is_inside else (), max(lists, key=fit, default=None))


def identity_in(value: Any, thing: Words, attribute: str = "id") -> Any:
    """The value of the field that identifies an object; None without one.

    >>> identity_in({"name": "Ann", "customer_id": 7}, ("customer",))
    7
    """
    fields = value.items() if isinstance(value, dict) else ()
    identities = (
        field_value
        for name, field_value in fields
        if isinstance(field_value, str | int) and is_key(name, thing, attribute)
    )
    return next(identities, None)
