"""Takes out of a text what must not be kept: private spans, our own injected text, secrets, personal data by setting.

The three are applied to every text before anything else sees it. Secrets are known by their shape, by
their place, and by the rules of gitleaks; each pattern is bounded, so that hostile input costs linear time at most.
Nothing is compiled before a text asks for it.
"""

from __future__ import annotations

from .known import KnownSecrets
from .policy import Policy
from .redactor import VERSION, Find, Redacted, redact
from .spans import cut_own, cut_private

__all__ = ["VERSION", "Find", "KnownSecrets", "Policy", "Redacted", "cut_own", "cut_private", "redact"]
