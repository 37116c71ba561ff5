"""Chat models: the protocol, the transports, and who `--llm NAME` is. Nothing here knows a tool."""

from toolassay.models.errors import ModelError
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import (
    Attempt,
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    Meter,
    NoMeter,
    ToolCall,
)
from toolassay.models.registry import create_model

__all__ = [
    "Attempt",
    "ChatModel",
    "ChatRequest",
    "ChatResponse",
    "Message",
    "Meter",
    "ModelError",
    "ModelOptions",
    "NoMeter",
    "ToolCall",
    "create_model",
]
