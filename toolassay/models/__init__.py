"""Chat models: the `ChatModel` protocol, the HTTP client with its transports, and `create_model`.

This package is independent of benchmarks and tools.
"""

from typing import TYPE_CHECKING, Any

from toolassay.extras import exported

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

_MODULE_OF = {
    "ModelError": "errors",
    "ModelOptions": "options",
    "create_model": "registry",
    **dict.fromkeys(("Attempt", "ChatModel", "ChatRequest", "ChatResponse"), "protocol"),
    **dict.fromkeys(("Message", "Meter", "NoMeter", "ToolCall"), "protocol"),
}


def __getattr__(name: str) -> Any:
    return exported(__name__, _MODULE_OF, name)
