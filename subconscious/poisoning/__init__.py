"""The poisoning check: finds texts that would manipulate a model if it received them as memories."""

from subconscious.poisoning.check import check, check_text, rules_version

__all__ = ["check", "check_text", "rules_version"]
