"""A model that answers with the question."""

from toolassay.models import ChatRequest, ChatResponse, ModelOptions


class Echo:
    def __init__(self, name: str, shout: bool) -> None:
        self.name = name
        self._shout = shout

    async def complete(self, request: ChatRequest) -> ChatResponse:
        text = request.messages[-1]["content"]
        return ChatResponse(text.upper() if self._shout else text)

    async def close(self) -> None: ...


def create(name: str, options: ModelOptions) -> Echo:
    return Echo(name, shout=bool(options.extra_body.get("shout")))
