"""Agents of WorkBench: the conversation loop, the two call formats, inference, scores and verification."""
