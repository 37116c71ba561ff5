"""Back-instruct: from a sampled subgraph to a user request with steps and gold plan, and the critics."""
