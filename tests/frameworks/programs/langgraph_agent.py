"""An agent of langgraph: a graph of two nodes, with the tools of an MCP server."""

import asyncio
import os

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


async def work() -> str:
    address = {"url": os.environ["TOOLASSAY_MCP_URL"], "transport": "streamable_http"}
    tools = await MultiServerMCPClient({"tools": address}).get_tools()
    model = ChatOpenAI(model=os.environ["TOOLASSAY_MODEL"]).bind_tools(tools)

    async def ask(state: MessagesState) -> dict:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    request = {"role": "user", "content": os.environ["TOOLASSAY_REQUEST"]}
    done = await graph.compile().ainvoke({"messages": [request]}, {"recursion_limit": 60})
    return done["messages"][-1].content


print(asyncio.run(work()))
