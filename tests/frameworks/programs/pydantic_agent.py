"""An agent of pydantic-ai."""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset


async def work() -> str:
    model = f"openai-chat:{os.environ['TOOLASSAY_MODEL']}"
    async with Agent(model, toolsets=[MCPToolset(os.environ["TOOLASSAY_MCP_URL"])]) as agent:
        return (await agent.run(os.environ["TOOLASSAY_REQUEST"])).output


print(asyncio.run(work()))
