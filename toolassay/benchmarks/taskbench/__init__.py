"""TaskBench: a planner turns a request into a plan of tool calls (Shen et al., 2023)."""
