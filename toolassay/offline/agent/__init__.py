"""The offline agent: rules that parse a request and call tools."""
