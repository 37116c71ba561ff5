"""CLASSic: an agent reads a chat and names the workflow to start, or none (Wornow et al., 2025)."""
