"""A chat-completions server that answers with the offline models, and can inject faults."""
