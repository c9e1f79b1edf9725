"""The error tree.

    SubconsciousError
    ├── SettingsError        a setting can't be used
    ├── StoreError           the database can't be opened, read or written
    │   ├── NewerStoreError  a newer program wrote this database
    │   ├── NotFoundError    no memory, session or capture by that id
    │   ├── UnsoundStoreError  a verification found problems in the database
    │   └── LostStoreError   the database is missing, truncated or damaged; nothing new is created in its place
    ├── TranscriptError      a transcript can't be read at all
    │   └── UnreadableTranscriptError  what lies at its path is no file that can be read: trying again is useless
    ├── DaemonError          the daemon can't be reached or refused
    ├── RequestError         a request that makes no sense
    │   └── HeldError        it is about what is in quarantine, which is for a person's review
    ├── EmbedderError        the embedding model can't be loaded or used
    │   ├── EmbedderKeyError     the key is missing, wrong, or not allowed: nothing is tried again
    │   ├── EmbedderBusyError    too much asked, broken, out of time, or not reachable; may be tried again
    │   └── EmbedderTextError    this text is refused, or its vector is none
    └── ProviderError        a model of language can't be asked
        ├── KeyRefusedError  the key is missing, wrong, or not allowed: nothing else is tried
        ├── RateLimitedError too many requests or tokens; waits
        ├── UnavailableError overloaded, broken, out of time, or not reachable; may be tried again
        ├── BadAnswerError   the answer is not what was asked for, also after a repair
        ├── BadRequestError  the provider refuses this request, and would again
        └── CapReachedError  asking would cost more than the caps allow: the work waits

Each carries a code, for searching the docs, and a remedy: the sentence that tells a person what to do about it.
Expected outcomes (an admission, a verdict) are values, never exceptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subconscious.model import Usage


class SubconsciousError(Exception):
    """The world broke; ``remedy`` says how a person mends it."""

    code = "E000"

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class SettingsError(SubconsciousError):
    """A setting can't be used."""

    code = "E010"


class StoreError(SubconsciousError):
    """The database can't be opened, read or written."""

    code = "E020"


class NewerStoreError(StoreError):
    """The database was written by a newer version of this program."""

    code = "E021"


class NotFoundError(StoreError):
    """There is no memory, session or capture by that id."""

    code = "E022"


class LostStoreError(StoreError):
    """The database is missing, truncated or damaged, and no new one is created in its place."""

    code = "E023"


class UnsoundStoreError(StoreError):
    """A verification found problems in the database."""

    code = "E024"

    def __init__(self, message: str, problems: Sequence[str], remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.problems = tuple(problems)


class TranscriptError(SubconsciousError):
    """A transcript can't be read at all."""

    code = "E030"


class UnreadableTranscriptError(TranscriptError):
    """What lies at a transcript's path is no regular file, and never gives anything to read."""


class DaemonError(SubconsciousError):
    """The daemon can't be reached, or refused."""

    code = "E040"


class RequestError(SubconsciousError):
    """The request makes no sense; nothing was changed."""

    code = "E041"


class HeldError(RequestError):
    """A memory is in quarantine: it comes back by a person's release alone, and is for nobody else to read."""

    def __init__(self, memory_id: int) -> None:
        super().__init__(
            f"memory {memory_id} is in quarantine: it may be poisoned",
            "look at it with `subconscious review --status quarantined`, then release or reject it",
        )


class EmbedderError(SubconsciousError):
    """The embedding model can't be loaded or used."""

    code = "E051"


class EmbedderKeyError(EmbedderError):
    """The embedder's key is missing, wrong, or not allowed to do this."""

    code = "E050"


class EmbedderBusyError(EmbedderError):
    """The embedder can't answer now; ``retry_after`` is in seconds where it says how long that lasts."""

    code = "E052"

    def __init__(self, message: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after


class EmbedderTextError(EmbedderError):
    """The embedder refuses this text, or answers with what is no vector of it; others may do."""

    code = "E053"


class ProviderError(SubconsciousError):
    """A model of language can't be asked."""

    code = "E060"
    retryable = False
    usage: Usage | None = None
    """What was charged all the same, as for an answer that was cut off; None where nothing is known to be."""


class KeyRefusedError(ProviderError):
    """The key is missing, wrong, or not allowed to do this."""

    code = "E050"


class RateLimitedError(ProviderError):
    """Too many requests or tokens; ``retry_after`` is in seconds where the provider says it."""

    code = "E061"
    retryable = True

    def __init__(self, message: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after


class UnavailableError(ProviderError):
    """Overloaded, broken, out of time, or not reachable; ``retry_after`` as with RateLimitedError."""

    code = "E062"
    retryable = True

    def __init__(self, message: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after


class BadAnswerError(ProviderError):
    """The answer is not what was asked for, also after a repair."""

    code = "E063"


class BadRequestError(ProviderError):
    """The provider refuses this request, and would again: too long, an unknown model, a schema it can't do."""

    code = "E064"


class CapReachedError(ProviderError):
    """Asking would cost more than a cap allows; ``retry_at`` is when it is worth another try (seconds, wall clock)."""

    code = "E065"

    def __init__(self, message: str, remedy: str = "", retry_at: float = 0.0) -> None:
        super().__init__(message, remedy)
        self.retry_at = retry_at
