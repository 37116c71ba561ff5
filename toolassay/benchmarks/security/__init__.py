"""Security probes shared by all benchmarks."""
