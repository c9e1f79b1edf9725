"""Names that mark memories learned from tool calls alone. Imports nothing, because most commands load this module."""

OBSERVED = "observed-"
"""The prefix of the names of extractors that learn from tool calls alone."""

IN_TOOL_CALLS = "observed in tool calls"
"""The source that all screens show for a memory that was learned from tool calls alone."""


def is_observed(extractor: str) -> bool:
    """Whether an extractor, of any version, learns from tool calls alone."""
    return extractor.startswith(OBSERVED)
