"""Names for what was learned from tool calls alone. This module imports nothing, because most commands load it."""

OBSERVED = "observed-"
"""The prefix of the names of extractors that learn from tool calls alone."""

IN_TOOL_CALLS = "observed in tool calls"
"""The source that all screens show for a memory that was learned from tool calls alone."""


def is_observed(extractor: str) -> bool:
    """Whether an extractor, of any version, learns from tool calls alone."""
    return extractor.startswith(OBSERVED)
