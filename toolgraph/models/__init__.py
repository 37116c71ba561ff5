"""Chat models: the protocol, the transports, and who `--llm NAME` is. Nothing here knows a tool."""

from toolgraph.models.errors import ModelError
from toolgraph.models.protocol import ChatModel, ChatRequest, ChatResponse, Message
from toolgraph.models.registry import ModelOptions, create_model

__all__ = [
    "ChatModel",
    "ChatRequest",
    "ChatResponse",
    "Message",
    "ModelError",
    "ModelOptions",
    "create_model",
]
