"""Security probes shared by all benchmarks."""

FOLDER = "security"
"""The folder of security runs, in a prediction folder."""
