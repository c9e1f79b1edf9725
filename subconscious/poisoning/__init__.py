"""The poisoning check: finds texts that are meant to steer the model that would remember them."""

from subconscious.poisoning.check import check, check_text, rules_version

__all__ = ["check", "check_text", "rules_version"]
