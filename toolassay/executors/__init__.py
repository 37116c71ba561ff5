"""Where calls run (an MCP server, Python functions, a simulator), and how a plan is run there."""
