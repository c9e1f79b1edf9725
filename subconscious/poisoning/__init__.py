"""The poisoning check: whether what might be remembered is meant to steer who remembers it."""

from subconscious.poisoning.check import check, check_text, rules_version

__all__ = ["check", "check_text", "rules_version"]
