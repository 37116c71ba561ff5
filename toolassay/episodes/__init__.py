"""Episodes: one loop for agents that call tools, natively or in text, on the answer journal of a run."""

from toolassay.episodes.call_formats import AgentTool, AgentTurn, CallFormat, call_format
from toolassay.episodes.episode import EpisodeLimits, MadeCall, Trajectory, episode

__all__ = [
    "AgentTool",
    "AgentTurn",
    "CallFormat",
    "EpisodeLimits",
    "MadeCall",
    "Trajectory",
    "call_format",
    "episode",
]
