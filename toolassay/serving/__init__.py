"""The offline models as a chat-completions server, and the faults such a server can show."""
