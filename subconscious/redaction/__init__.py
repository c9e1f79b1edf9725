"""Removes what must not be stored from a text: private spans, the plugin's own memories, secrets, personal data.

Every text is cleaned before it is used. Personal data is only removed if a setting says so. Secrets are recognised by
their format, by their context, and by the rules of gitleaks. Each pattern is bounded, so that hostile input costs at
most linear time. Patterns are compiled when first used.
"""

from __future__ import annotations

from .cleaning import cut_own, cut_private
from .known import KnownSecrets
from .policy import Policy
from .redactor import VERSION, Detection, Redacted, redact

__all__ = ["VERSION", "Detection", "KnownSecrets", "Policy", "Redacted", "cut_own", "cut_private", "redact"]
