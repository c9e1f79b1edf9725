"""The tools of the MCP server: what the model may ask of its memory, by layers."""
