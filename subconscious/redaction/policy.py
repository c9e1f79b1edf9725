"""The redaction policy: a strategy for each type of data, and the findings that a person has allowed."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .known import KnownSecrets

SECRETS = "secrets"
PERSONAL = ("payment", "email", "phone", "ip")
"""Types of personal data, each with its own setting."""

REDACT, MASK, BLOCK, WARN, OFF = "redact", "mask", "block", "warn", "off"
"""Strategies: replace a value by a mark, or by a mark with the value's end; drop the whole text; only report; ignore."""

STANDARD = MappingProxyType({SECRETS: REDACT, "payment": REDACT, "email": OFF, "phone": OFF, "ip": OFF})

HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Policy:
    """How texts are redacted.

    ``key`` salts the hashes that identify findings; ``allowed`` are the hashes that a person has allowed. ``known`` are
    secrets found in other texts.
    """

    strategies: Mapping[str, str] = field(default_factory=lambda: STANDARD)
    key: bytes = b""
    allowed: frozenset[str] = frozenset()
    known: KnownSecrets = field(default_factory=KnownSecrets)

    def strategy(self, sort: str) -> str:
        """Return the strategy for one type of data."""
        return self.strategies.get(sort, OFF)

    def hash(self, value: str) -> str:
        """Return the identifier of a finding, which does not reveal the value."""
        return hmac.digest(self.key, value.encode("utf-8", "surrogatepass"), "sha256").hex()[:HASH_DIGITS]


_in_use = [Policy()]
"""The policy of the process. It is global, because texts are cleaned in places that have no settings."""


def use(policy: Policy) -> None:
    """Set the policy of the whole process."""
    _in_use[0] = policy


def in_use() -> Policy:
    """Return the current policy."""
    return _in_use[0]
