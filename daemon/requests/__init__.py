"""The JSON requests of docs/protocol.md: a room for each noun, a `cmd_*` method for each request."""
