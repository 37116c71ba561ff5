"""Episodes: one loop for agents that call tools, natively or in text, on the answer journal of a run."""
