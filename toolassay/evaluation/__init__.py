"""What evaluations of all benchmarks share: metrics files, items, signatures, comparison, verification."""
