"""Models that run on this machine by rules, without a server, a key or a download.

The writer, the planner, the agent, the workflow chooser, the critic and the baselines.
"""
