"""What is done about what is found: a strategy for each sort, and what a person has allowed."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .known import KnownSecrets

SECRETS = "secrets"
PERSONAL = ("payment", "email", "phone", "ip")
"""Sorts of personal data, each with a setting of its own."""

REDACT, MASK, BLOCK, WARN, OFF = "redact", "mask", "block", "warn", "off"
"""Strategies: put a mark in its place; a mark with its last signs; drop the whole text; note it only; don't look."""

STANDARD = MappingProxyType({SECRETS: REDACT, "payment": REDACT, "email": OFF, "phone": OFF, "ip": OFF})

HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Policy:
    """``key`` salts the hashes by which findings are told apart; ``allowed`` are those that a person lets pass.

    ``known`` are secrets of other texts.
    """

    strategies: Mapping[str, str] = field(default_factory=lambda: STANDARD)
    key: bytes = b""
    allowed: frozenset[str] = frozenset()
    known: KnownSecrets = field(default_factory=KnownSecrets)

    def strategy(self, sort: str) -> str:
        """What is done about one sort."""
        return self.strategies.get(sort, OFF)

    def hash(self, value: str) -> str:
        """What a finding is called where it must not be named itself."""
        return hmac.digest(self.key, value.encode("utf-8", "surrogatepass"), "sha256").hex()[:HASH_DIGITS]


_in_use = [Policy()]
"""Of the whole process: texts are cleaned in places that no settings reach, and one rule must hold for all of them."""


def use(policy: Policy) -> None:
    """Let a policy hold from now on, in the whole process."""
    _in_use[0] = policy


def in_use() -> Policy:
    """The policy that holds."""
    return _in_use[0]
