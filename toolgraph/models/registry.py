"""Who `--llm NAME` is: a built-in name, a name a package registered, or a served model."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, cast

from toolgraph.errors import UsageError
from toolgraph.models.protocol import ChatModel

GROUP = "toolgraph.models"
DEFAULT_ADDRESS = "localhost"
DEFAULT_PORT = 4000

# Names only: nothing is imported until somebody asks for it.
_BUILT_IN = {"offline": "toolgraph.offline.model:create"}


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Where a served model is and how to talk to it. `api_key` stays out of every `repr`, file and log."""

    api_base: str | None = None
    api_addr: str | None = None
    api_port: int | None = None
    api_key: str | None = field(default=None, repr=False)
    connections: int = 100
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base_url(self) -> str:
        """`--api_base`, else `--api_addr`/`--api_port`, else OPENAI_BASE_URL, else localhost:4000."""
        if self.api_base:
            return self.api_base.rstrip("/")
        if self.api_addr is None and self.api_port is None:
            from_environment = os.environ.get("OPENAI_BASE_URL")
            if from_environment:
                return from_environment.rstrip("/")
        address = (self.api_addr or DEFAULT_ADDRESS).removeprefix("http://").rstrip("/")
        if address.count(":") > 1 and "[" not in address and "//" not in address:
            address = f"[{address}]"  # IPv6
        scheme = "" if address.startswith("https://") else "http://"
        return f"{scheme}{address}:{self.api_port or DEFAULT_PORT}/v1"

    @property
    def key(self) -> str | None:
        """The key: given, else OPENAI_API_KEY; without the line end that a key file brings along."""
        return (self.api_key or os.environ.get("OPENAI_API_KEY") or "").strip() or None

    @property
    def settings(self) -> dict[str, str]:
        """What of this changes answers, for a manifest: the extra fields, which may hold secrets, hashed."""
        if not self.extra_body:
            return {}
        text = json.dumps(self.extra_body, sort_keys=True)
        return {"extra_body_sha256": hashlib.sha256(text.encode()).hexdigest()}


def create_model(name: str, options: ModelOptions) -> ChatModel:
    """The model called `name`.

    A built-in name (`offline`) and names registered under the entry-point group `toolgraph.models` come
    first; any other name is asked of the OpenAI-compatible server that `options` point to. A registered
    object is called with `(name, options)`.

    Raises:
        UsageError: an empty name, or a registered model that cannot be loaded.
    """
    if not name.strip():
        raise UsageError("--llm is empty", fix="name a model, e.g. --llm offline")
    factory = _registered(name)
    if factory is not None:
        return factory(name, options)
    from toolgraph.models.http import HttpChatModel

    return HttpChatModel(name, options)


def is_served(name: str) -> bool:
    """Whether a model is asked over HTTP rather than built in or registered.

    >>> is_served("offline"), is_served("gpt-4")
    (False, True)
    """
    return name not in _BUILT_IN and not entry_points(group=GROUP, name=name)


def _registered(name: str) -> Callable[[str, ModelOptions], ChatModel] | None:
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        return cast(Callable[[str, ModelOptions], ChatModel], getattr(import_module(module), attribute))
    for point in entry_points(group=GROUP, name=name):
        try:
            return cast(Callable[[str, ModelOptions], ChatModel], point.load())
        except Exception as error:
            raise UsageError(
                f"model '{name}' is registered as {point.value} but cannot be loaded: {error}",
                fix="mend or uninstall that package",
            ) from error
    return None
