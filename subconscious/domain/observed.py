"""What was learned from tool calls alone, so that nobody said it. Imports nothing, because most commands load it."""

OBSERVED = "observed-"
"""The prefix of the names of extractors that learn from tool calls alone."""

IN_TOOL_CALLS = "observed in tool calls"
"""The words for the source of what nobody said; all screens use them."""


def is_observed(extractor: str) -> bool:
    """Whether an extractor, of any version, learns from tool calls alone."""
    return extractor.startswith(OBSERVED)
