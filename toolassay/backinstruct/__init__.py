"""Back-Instruct: generates a user request, steps and gold plan for a sampled subgraph; and the critics."""
