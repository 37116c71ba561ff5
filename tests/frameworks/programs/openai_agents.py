"""An agent of openai-agents, which speaks Responses."""

import asyncio
import os

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

set_tracing_disabled(True)


async def work() -> str:
    async with MCPServerStreamableHttp({"url": os.environ["TOOLASSAY_MCP_URL"]}) as server:
        agent = Agent("agent", model=os.environ["TOOLASSAY_MODEL"], mcp_servers=[server])
        return (await Runner.run(agent, os.environ["TOOLASSAY_REQUEST"], max_turns=30)).final_output


print(asyncio.run(work()))
