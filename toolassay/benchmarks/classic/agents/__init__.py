"""Agents of CLASSic: from a question to the workflow to start, or to none. No agent sees a label."""
