"""Removes from a text what must not be stored: private spans, our injected text, secrets, and personal data by setting.

All three are applied to every text first. Secrets are recognised by their format, by their context, and by the rules of
gitleaks; each pattern is bounded, so that hostile input costs at most linear time. Patterns are compiled when first
used.
"""

from __future__ import annotations

from .cleaning import cut_own, cut_private
from .known import KnownSecrets
from .policy import Policy
from .redactor import VERSION, Detection, Redacted, redact

__all__ = ["VERSION", "Detection", "KnownSecrets", "Policy", "Redacted", "cut_own", "cut_private", "redact"]
