"""The benchmarks: TaskBench, WorkBench and CLASSic, and what their security probes share."""
