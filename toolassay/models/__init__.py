"""Chat models: the `ChatModel` protocol, the HTTP client with its transports, and `create_model`.

This package is independent of benchmarks and tools. What it exports is imported on first use, because the
help of a command needs only the options.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolassay.models.errors import ModelError as ModelError
    from toolassay.models.options import ModelOptions as ModelOptions
    from toolassay.models.protocol import Attempt as Attempt
    from toolassay.models.protocol import ChatModel as ChatModel
    from toolassay.models.protocol import ChatRequest as ChatRequest
    from toolassay.models.protocol import ChatResponse as ChatResponse
    from toolassay.models.protocol import Message as Message
    from toolassay.models.protocol import Meter as Meter
    from toolassay.models.protocol import NoMeter as NoMeter
    from toolassay.models.protocol import ToolCall as ToolCall
    from toolassay.models.registry import create_model as create_model

_HOMES = {"ModelError": "errors", "ModelOptions": "options", "create_model": "registry"}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'protocol')}"), name)
