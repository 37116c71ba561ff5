"""What a user sees: messages, progress, tables and clean text."""
