"""The error tree.

    SubconsciousError
    ├── SettingsError        a setting can't be used
    ├── StoreError           the database can't be opened, read or written
    │   ├── NewerStoreError  a newer program wrote this database
    │   ├── NotFoundError    no memory, session or capture has that id
    │   │   └── OnlyCaptureError  the id belongs to a capture, not to a memory
    │   ├── UnsoundStoreError  a verification found problems in the database
    │   └── LostStoreError   the database is missing, truncated or damaged; no new one is created
    ├── TranscriptError      a transcript can't be read at all
    │   └── UnreadableTranscriptError  the transcript is not a regular file: a retry is useless
    ├── DaemonError          the daemon can't be reached, or refused the request
    ├── RequestError         the request is invalid
    │   └── QuarantinedError  the memory is in quarantine, for a person to review
    ├── TeamError            the team's store can't be reached or used now
    │   └── TeamRefusedError  the team's store refuses this request
    ├── EmbedderError        the embedding model can't be loaded or used
    │   ├── EmbedderKeyError     the key is missing, wrong, or not allowed: no retry
    │   ├── EmbedderBusyError    overloaded, broken, timed out or unreachable; may be retried
    │   └── EmbedderTextError    this text was refused, or no valid vector came back
    └── ProviderError        a language model can't be used
        ├── KeyRefusedError  the key is missing, wrong, or not allowed: no other provider is tried
        ├── RateLimitedError too many requests or tokens; the call waits
        ├── UnavailableError overloaded, broken, timed out or unreachable; may be retried
        ├── BadAnswerError   the answer is invalid, even after one repair attempt
        ├── BadRequestError  the provider refuses this request, and would refuse it again
        └── CapReachedError  the call would exceed a spending cap: the work waits

Each error has a code, which the docs explain, and a remedy: a sentence that says what the user can do. Expected
outcomes, such as the rejection of a statement, are return values, not exceptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subconscious.domain.usage import Usage


class SubconsciousError(Exception):
    """Base of all errors of this program; ``remedy`` says what the user can do about it."""

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
    """There is no memory, session or capture with the requested id."""

    code = "E022"


CAPTURE_STATES = {
    "review": "waits for your review",
    "unconfirmed": "waits for your review",
    "quarantined": "is in quarantine",
}


class OnlyCaptureError(NotFoundError):
    """The id belongs to a capture, not to a memory. The message says what happened to the capture."""

    code = "E025"

    def __init__(self, capture_id: int, status: str, memory_id: int | None) -> None:
        state = CAPTURE_STATES.get(status, f"was {status}") if memory_id is None else f"is stored as memory {memory_id}"
        super().__init__(
            f"{capture_id} is not a memory but a capture, and {state}", f"to look at it: subconscious show {capture_id}"
        )


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
    """A transcript can't be read."""

    code = "E030"


class UnreadableTranscriptError(TranscriptError):
    """The path of a transcript is not a regular file, so a retry is useless."""


class DaemonError(SubconsciousError):
    """The daemon can't be reached, or refused the request."""

    code = "E040"


class RequestError(SubconsciousError):
    """The request is invalid; nothing was changed."""

    code = "E041"


class QuarantinedError(RequestError):
    """The memory is in quarantine: only a person can read it or release it from quarantine."""

    def __init__(self, memory_id: int) -> None:
        super().__init__(
            f"memory {memory_id} is in quarantine: it may be poisoned",
            "look at it with `subconscious review --status quarantined`, then release or reject it",
        )


class TeamError(SubconsciousError):
    """The team's store can't be reached or used now; nothing is lost, and the exchange is retried."""

    code = "E070"


class TeamRefusedError(TeamError):
    """The team's store refused the request, because the user lacks a role or a limit is reached."""

    code = "E071"


class EmbedderError(SubconsciousError):
    """The embedding model can't be loaded or used."""

    code = "E051"


class EmbedderKeyError(EmbedderError):
    """The embedder's key is missing, wrong, or not allowed to use the model."""

    code = "E050"


class EmbedderBusyError(EmbedderError):
    """The embedder can't answer now. ``retry_after`` is the pause that it asks for, in seconds; None if unknown."""

    code = "E052"

    def __init__(self, message: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after


class EmbedderTextError(EmbedderError):
    """The embedder refused a text, or returned no valid vector for it; other texts may work."""

    code = "E053"


class ProviderError(SubconsciousError):
    """A language model can't be used."""

    code = "E060"
    usage: Usage | None = None
    """Tokens charged despite the error, such as for a truncated answer; None if none were charged or if unknown."""


class KeyRefusedError(ProviderError):
    """The provider's key is missing, wrong, or not allowed to use the model."""

    code = "E050"


class RateLimitedError(ProviderError):
    """The provider got too many requests or tokens.

    ``retry_after`` is the pause that the provider asks for, in seconds; None if unknown.
    """

    code = "E061"

    def __init__(self, message: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after


class UnavailableError(ProviderError):
    """The provider is overloaded, broken, too slow or unreachable; ``retry_after`` is as in RateLimitedError."""

    code = "E062"

    def __init__(self, message: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after


class BadAnswerError(ProviderError):
    """The model's answer does not have the requested form, even after one attempt to repair it."""

    code = "E063"


class BadRequestError(ProviderError):
    """The provider refuses the request for good: it is too long, or has an unknown model or an unsupported schema."""

    code = "E064"


class CapReachedError(ProviderError):
    """The call would exceed a spending cap. ``retry_at`` is the earliest time of a retry (seconds since the epoch)."""

    code = "E065"

    def __init__(self, message: str, remedy: str = "", retry_at: float = 0.0) -> None:
        super().__init__(message, remedy)
        self.retry_at = retry_at
