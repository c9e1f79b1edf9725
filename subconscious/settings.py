"""Settings: read once at the entry, from SUBCONSCIOUS_* variables, then config.toml, then the plugin's options."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from subconscious.errors import SettingsError


class Settings(BaseSettings):
    """Every default of SPEC.md that a person may change. Unknown keys are refused: a typo must not pass unseen."""

    model_config = SettingsConfigDict(env_prefix="SUBCONSCIOUS_", env_ignore_empty=True, extra="ignore", frozen=True)

    off: bool = Field(default=False, description="turn every hook off")
    capture: bool = Field(default=True, description="learn from sessions")
    summaries: bool = Field(default=True, description="tell what each session was about (E2)")
    surface: bool = Field(default=True, description="give memories to sessions")

    auto_threshold: float = Field(default=0.9, ge=0, le=1, description="confidence that is stored at once (A3)")
    review_threshold: float = Field(default=0.7, ge=0, le=1, description="confidence that is queued (A4)")
    review_expiry_days: float = Field(default=7, gt=0, description="days a queued capture waits (A4)")
    calibration: bool = Field(default=True, description="correct stated confidence by what you decided (N3)")
    calibration_prior: float = Field(default=30, gt=0, description="outcomes that a stated confidence counts for (N3)")
    calibration_days: float = Field(default=180, gt=0, description="days after which an outcome counts half (N3)")
    calibration_silence: float = Field(
        default=0.2, ge=0, le=1, description="what a capture given to sessions without objection counts for (N3)"
    )
    session_captures: int = Field(
        default=15, ge=0, description="captures that one session may bring, the strongest first"
    )
    dedupe: bool = Field(default=True, description="merge a repeated statement into its memory (D11)")

    poisoning: bool = Field(default=True, description="check what is captured for poisoning (A17)")
    poisoning_low: float = Field(
        default=0.8, ge=0, le=1, description="what a slight suspicion multiplies confidence by (A18)"
    )

    start_tokens: int = Field(default=2000, ge=0, le=2300, description="budget at session start (A25)")
    start_characters: int = Field(default=9500, ge=0, le=9900, description="characters at session start (A25)")
    start_memories: int = Field(default=10, ge=0, le=50, description="memories given at once (D10)")

    embedder: Literal["local", "none"] = Field(default="local", description="what makes embeddings (B23)")
    fusion: Literal["relative", "rrf"] = Field(default="relative", description="how engines are fused (B1)")
    fusion_alpha: float = Field(default=0.5, ge=0, le=1, description="weight of the vector engine in `relative`")
    rrf_k: int = Field(default=60, ge=1, description="k of the `rrf` preset (B1)")
    rrf_agreement: float = Field(default=1.10, ge=1, description="factor for hits of two engines in `rrf` (B2)")
    ranking_decay: float = Field(default=0.01, ge=0, description="a day's decay in the ranking (D8)")
    stale_days: float = Field(default=90, gt=0, description="days without recall after which x 0.5 (D13)")
    stale_factor: float = Field(default=0.5, ge=0, le=1, description="what a stale memory's rank is multiplied by")

    workers: int = Field(default=2, ge=1, le=16, description="jobs worked on at once")
    job_attempts: int = Field(default=5, ge=1, description="tries before a job is buried")
    job_timeout_seconds: float = Field(default=120, gt=0, description="time one job may take")
    idle_exit_minutes: float = Field(default=30, gt=0, description="quiet time after which the daemon leaves")
    silent_minutes: float = Field(default=30, gt=0, description="silence after which a session is closed (B13)")
    sweep_seconds: float = Field(default=5, gt=0, description="pause between two sweeps of the spool")
    spool_max_mb: int = Field(default=256, ge=1, description="size the spool may reach")
    spool_max_days: float = Field(default=30, gt=0, description="age a spool entry may reach")

    @field_validator("start_tokens", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        """Claude Code's plugin options know numbers only, not whole ones."""
        try:
            return round(float(value))
        except (TypeError, ValueError, OverflowError):
            return value

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
