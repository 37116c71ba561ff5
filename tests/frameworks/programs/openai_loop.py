"""A loop of one's own on the packages openai and mcp."""

import asyncio
import json
import os

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI


async def work() -> str:
    messages = [{"role": "user", "content": os.environ["TOOLASSAY_REQUEST"]}]
    async with (
        streamable_http_client(os.environ["TOOLASSAY_MCP_URL"]) as (read, write, *_),
        ClientSession(read, write) as server,
    ):
        await server.initialize()
        tools = [
            {"type": "function", "function": {"name": one.name, "parameters": one.inputSchema}}
            for one in (await server.list_tools()).tools
        ]
        while True:
            answer = await AsyncOpenAI().chat.completions.create(
                model=os.environ["TOOLASSAY_MODEL"], messages=messages, tools=tools
            )
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls or ():
                result = await server.call_tool(call.function.name, json.loads(call.function.arguments))
                text = "".join(part.text for part in result.content)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
            if not message.tool_calls:
                return message.content


print(asyncio.run(work()))
