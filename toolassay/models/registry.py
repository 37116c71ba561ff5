"""Who `--llm NAME` is: a built-in name, a name a package registered, or a served model."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from toolassay.errors import UsageError
from toolassay.extras import installed_entry_points
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import ChatModel, Meter

GROUP = "toolassay.models"

# Names only: nothing is imported until somebody asks for it.
_BUILT_IN = {
    "offline": "toolassay.offline.offline_model:create",
    "nothing": "toolassay.offline.baselines:create",
    "random": "toolassay.offline.baselines:create",
}
BUILT_IN = frozenset(_BUILT_IN)
"""Models that need no server: they answer on this machine, cost nothing and use no tokens."""
BASELINES = frozenset({"nothing", "random"})
"""Built-in models that are compared with and never ranked."""
DRAWS = frozenset({"random"})
"""Built-in models that have a seed; 0 where none is given."""


def refuse_baseline(name: str | None, flag: str) -> None:
    """Refuse a baseline where a model has to read what it is asked.

    Raises:
        UsageError: it is one.
    """
    if name in BASELINES:
        raise UsageError(f"{flag} {name} is a baseline: it only answers requests", fix="name another model")


def create_model(name: str, options: ModelOptions, meter: Meter | None = None) -> ChatModel:
    """The model called `name`.

    A built-in name (`offline`, `nothing`, `random`) and names registered under the entry-point group
    `toolassay.models` come first; any other name is asked of the OpenAI-compatible server that `options`
    point to. A registered object is called with `(name, options)`. `meter` sees every call of whichever model
    it is; where there is one, a registered model is tried again and limited as a served one is.

    Raises:
        UsageError: an empty name, or a registered model that cannot be loaded.
    """
    if not name.strip():
        raise UsageError("--llm is empty", fix="name a model, e.g. --llm offline")
    factory = _registered(name)
    if factory is not None:
        model = factory(name, options)
        if meter is None:
            return model
        from toolassay.models.client import Client, Registered
        from toolassay.models.concurrency_limiter import Limiter

        limiter = Limiter(options.connections)
        return Client(model.name, options, meter, transport=Registered(model), limiter=limiter)
    from toolassay.models.client import Client

    return Client(name, options, meter)


def is_served(name: str) -> bool:
    """Whether a model is asked over HTTP rather than built in or registered.

    >>> is_served("offline"), is_served("gpt-4")
    (False, True)
    """
    return name not in _BUILT_IN and not any(point.name == name for point in installed_entry_points(GROUP))


def _registered(name: str) -> Callable[[str, ModelOptions], ChatModel] | None:
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        return cast(Callable[[str, ModelOptions], ChatModel], getattr(import_module(module), attribute))
    for point in installed_entry_points(GROUP):
        if point.name != name:
            continue
        try:
            return cast(Callable[[str, ModelOptions], ChatModel], point.load())
        except Exception as error:
            raise UsageError(
                f"model '{name}' is registered as {point.value} but cannot be loaded: {error}",
                fix="mend or uninstall that package",
            ) from error
    return None
