"""The error tree.

    SubconsciousError
    ├── SettingsError        a setting can't be used
    ├── StoreError           the database can't be opened, read or written
    │   ├── NewerStoreError  a newer program wrote this database
    │   └── NotFoundError    no memory, session or capture by that id
    ├── TranscriptError      a transcript can't be read at all
    ├── DaemonError          the daemon can't be reached or refused
    ├── RequestError         a request that makes no sense
    └── EmbedderError        the embedding model can't be loaded or used

Each carries a code, for searching the docs, and a remedy: the sentence that tells a person what to do about it.
Expected outcomes (an admission, a verdict) are values, never exceptions.
"""

from __future__ import annotations


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


class TranscriptError(SubconsciousError):
    """A transcript can't be read at all."""

    code = "E030"


class DaemonError(SubconsciousError):
    """The daemon can't be reached, or refused."""

    code = "E040"


class RequestError(SubconsciousError):
    """The request makes no sense; nothing was changed."""

    code = "E041"


class EmbedderError(SubconsciousError):
    """The embedding model can't be loaded or used."""

    code = "E050"
