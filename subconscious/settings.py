"""Settings: read once at the entry, from SUBCONSCIOUS_* variables, then config.toml, then the plugin's options.

The place of the state folder is computed here and, since hooks can't import this, once more in ``hooks/``; the rules
stand in docs/protocol.md and a test holds both to the same answers.
"""

from __future__ import annotations

import os
import stat
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from subconscious.errors import SettingsError

SOCKET_PATH_LIMIT = 100
"""Bytes a socket's path may have to be bound by its full name (the systems allow 104 to 108)."""


class Settings(BaseSettings):
    """Every default of SPEC.md that a person may change. Unknown keys are refused: a typo must not pass unseen."""

    model_config = SettingsConfigDict(env_prefix="SUBCONSCIOUS_", extra="ignore", frozen=True)

    off: bool = Field(default=False, description="turn every hook off")
    capture: bool = Field(default=True, description="learn from sessions")
    surface: bool = Field(default=True, description="give memories to sessions")

    auto_threshold: float = Field(
        default=0.9, ge=0, le=1, description="confidence that is stored at once (A3)"
    )
    review_threshold: float = Field(default=0.7, ge=0, le=1, description="confidence that is queued (A4)")
    review_expiry_days: float = Field(default=7, gt=0, description="days a queued capture waits (A4)")
    session_captures: int = Field(
        default=15, ge=0, description="captures that one session may bring, the strongest first"
    )
    dedupe: bool = Field(default=True, description="merge a repeated statement into its memory (D11)")

    start_tokens: int = Field(default=2000, ge=0, le=2300, description="budget at session start (A25)")
    start_characters: int = Field(
        default=9500, ge=0, le=9900, description="characters at session start (A25)"
    )
    start_memories: int = Field(default=10, ge=0, le=50, description="memories given at once (D10)")

    embedder: Literal["local", "none"] = Field(default="local", description="what makes embeddings (B23)")
    fusion: Literal["relative", "rrf"] = Field(default="relative", description="how engines are fused (B1)")
    fusion_alpha: float = Field(
        default=0.5, ge=0, le=1, description="weight of the vector engine in `relative`"
    )
    rrf_k: int = Field(default=60, ge=1, description="k of the `rrf` preset (B1)")
    rrf_agreement: float = Field(
        default=1.10, ge=1, description="factor for hits of two engines in `rrf` (B2)"
    )
    ranking_decay: float = Field(default=0.01, ge=0, description="a day's decay in the ranking (D8)")
    stale_days: float = Field(default=90, gt=0, description="days without recall after which x 0.5 (D13)")
    stale_factor: float = Field(
        default=0.5, ge=0, le=1, description="what a stale memory's rank is multiplied by"
    )

    workers: int = Field(default=2, ge=1, le=16, description="jobs worked on at once")
    job_attempts: int = Field(default=5, ge=1, description="tries before a job is buried")
    job_timeout_seconds: float = Field(default=120, gt=0, description="time one job may take")
    idle_exit_minutes: float = Field(default=30, gt=0, description="quiet time after which the daemon leaves")
    silent_minutes: float = Field(
        default=30, gt=0, description="silence after which a session is closed (B13)"
    )
    sweep_seconds: float = Field(default=5, gt=0, description="pause between two sweeps of the spool")
    spool_max_mb: int = Field(default=256, ge=1, description="size the spool may reach")
    spool_max_days: float = Field(default=30, gt=0, description="age a spool entry may reach")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment before what is passed in (config.toml over plugin options); no .env of the user's project."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


def load_settings(home: Path | None, options: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of one state folder.

    ``options`` are the plugin's, as Claude Code passes them to hooks; config.toml outranks them, and
    SUBCONSCIOUS_* variables outrank both. Raises SettingsError with the key and the file that hold a bad value.
    """
    values: dict[str, Any] = {k: v for k, v in (options or {}).items() if k in Settings.model_fields}
    config = home / "config.toml" if home else None
    if config is not None and config.exists():
        values.update(_read_config(config))
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SettingsError(
            f"setting {key!r}: {first['msg']}",
            f"correct {key!r} in {config} or the variable SUBCONSCIOUS_{key.upper()}",
        ) from error


def _read_config(config: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{config} can't be read: {error}", f"mend or remove {config}") from error
    unknown = sorted(set(values) - set(Settings.model_fields))
    if unknown:
        raise SettingsError(
            f"{config} has unknown settings: {', '.join(unknown)}",
            f"remove them from {config}; `subconscious status --settings` lists those that exist",
        )
    return values


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one state folder (docs/protocol.md)."""

    root: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.root / "memory.db"

    @property
    def spool(self) -> Path:
        """Entries that wait for the daemon."""
        return self.root / "spool"

    @property
    def buried(self) -> Path:
        """Entries whose job failed for good."""
        return self.spool / "buried"

    @property
    def run(self) -> Path:
        """Socket, lock and markers."""
        return self.root / "run"

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.run / "daemon.sock"

    @property
    def lock(self) -> Path:
        """The file whose lock makes a process the daemon."""
        return self.run / "daemon.lock"

    @property
    def log(self) -> Path:
        """Log files."""
        return self.root / "log"

    @property
    def env(self) -> Path:
        """The daemon's own Python environments."""
        return self.root / "env"

    def make(self) -> None:
        """Create the folders, owner-only, and take back permissions that grew too wide."""
        for folder in (self.root, self.spool, self.buried, self.run, self.log):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if stat.S_IMODE(folder.stat().st_mode) & 0o077:
                folder.chmod(0o700)


def find_home(environ: Mapping[str, str] | None = None) -> Home | None:
    """Say where the state folder is, or None where there can be none (docs/protocol.md)."""
    environ = os.environ if environ is None else environ
    chosen = environ.get("SUBCONSCIOUS_HOME", "")
    if chosen:
        return Home(Path(chosen)) if chosen.startswith("/") and _usable(chosen) else None
    home = environ.get("HOME", "")
    if home.startswith("/"):
        candidate = os.path.join(home, ".subconscious")  # noqa: PTH118 - the very expression of the hooks
        if _usable(candidate):
            return Home(Path(candidate))
    fallback = os.path.join(environ.get("TMPDIR") or "/tmp", f"subconscious-{os.getuid()}")  # noqa: PTH118, S108
    return Home(Path(fallback)) if _private(fallback) else None


def _usable(path: str) -> bool:
    """Whether ``path`` is ours and writable, or can be made: its nearest existing parent is ours and writable."""
    while True:
        try:
            status = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            path = os.path.dirname(path)  # noqa: PTH120
            continue
        except OSError:
            return False
        return (
            stat.S_ISDIR(status.st_mode)
            and status.st_uid == os.getuid()
            and os.access(path, os.W_OK | os.X_OK)
        )


def _private(path: str) -> bool:
    """Whether ``path`` is, or can be made, a folder that only this user reaches: no link, mode 0700."""
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102
    except FileExistsError:
        pass
    except OSError:
        return False
    status = os.lstat(path)
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not stat.S_IMODE(status.st_mode) & 0o077
    )


def temporary_home(prefix: str = "subconscious-") -> Home:
    """Make a state folder of its own, for demos and tests."""
    home = Home(Path(tempfile.mkdtemp(prefix=prefix)))
    home.make()
    return home
