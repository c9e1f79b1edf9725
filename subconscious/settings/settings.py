"""Settings: read from SUBCONSCIOUS_* variables, config.toml and the plugin's options, in this order of priority.

For API keys, the order is: config.toml, the plugin's options, the variables. A session's own variables arrive with its
requests and apply only to these requests. A session's keys are not read here: they arrive with its requests over the
socket, and the daemon uses them for that session's calls to a model.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, create_model, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableVariable

from subconscious.decay.policies import POLICIES
from subconscious.domain.errors import SettingsError
from subconscious.domain.kinds import KINDS
from subconscious.settings.config_file import is_open, read_config
from subconscious.settings.guards import (
    Guarded,
    Strategy,
    if_higher,
    if_local,
    if_lower,
    if_none,
    if_off,
    if_on,
    if_stricter,
)
from subconscious.settings.provider_table import offered_providers, provider_row, provider_rows
from subconscious.settings.tuning import Tuning
from subconscious.system.safe_files import is_missing

log = logging.getLogger("subconscious.settings")


class _Common(Tuning, BaseSettings):
    """The settings that do not belong to a provider. ``Settings`` adds the settings of the providers."""

    model_config = SettingsConfigDict(env_prefix="SUBCONSCIOUS_", env_ignore_empty=True, extra="ignore", frozen=True)

    off: bool = Field(
        default=False,
        description="as a variable of a session: turn everything off; in config.toml: turn off only the model's tools",
    )
    capture: bool = Field(default=True, description="learn from sessions")
    claude_notes: bool = Field(
        default=True,
        description="search Claude Code's own notes too; don't repeat the notes that Claude Code loads itself",
    )
    summaries: bool = Field(default=True, description="write down what each session was about")
    surface: bool = Field(default=True, description="show memories to sessions")
    mcp: bool = Field(default=True, description="offer the model tools to search its memory")

    auto_threshold: Annotated[float, Guarded(safer=if_higher)] = Field(
        default=0.9, ge=0, le=1, description="confidence from which a statement is stored without asking"
    )
    review_expiry_days: float = Field(default=7, gt=0, description="days that a statement waits for your review")
    unconfirmed: bool = Field(
        default=True,
        description="keep the assistant's best findings, marked as unconfirmed until confirmed",
    )
    refine: bool = Field(default=True, description="let the provider's model read sessions too, if there is a provider")
    refine_tokens: int = Field(
        default=12_000,
        ge=1,
        description="new tokens of a session after which the model reads it without waiting for a pause",
    )

    redact_secrets: Annotated[Literal["redact", "mask", "block"], Guarded(safer=if_stricter)] = Field(
        default="redact", description="what happens to keys and passwords"
    )
    redact_payment: Annotated[Strategy, Guarded(safer=if_stricter)] = Field(
        default="redact", description="what happens to numbers of cards and bank accounts"
    )
    redact_email: Annotated[Strategy, Guarded(safer=if_stricter)] = Field(
        default="off", description="what happens to e-mail addresses"
    )
    redact_phone: Annotated[Strategy, Guarded(safer=if_stricter)] = Field(
        default="off", description="what happens to telephone numbers"
    )
    redact_ip: Annotated[Strategy, Guarded(safer=if_stricter)] = Field(
        default="off", description="what happens to public IP addresses"
    )
    poisoning: Annotated[bool, Guarded(safer=if_on)] = Field(
        default=True, description="check new statements for text that was written to steer the model"
    )

    start_tokens: int = Field(default=600, ge=0, le=2300, description="maximum tokens shown at a session's start")
    start_memories: int = Field(default=8, ge=0, le=50, description="maximum memories shown at a session's start")
    handover: bool = Field(default=True, description="show a hand-over from the previous session on the same branch")
    surface_prompts: bool = Field(default=True, description="show memories that match a prompt")
    surface_files: bool = Field(default=True, description="show memories about a file that is read or changed")
    surface_errors: bool = Field(
        default=True, description="after a tool failed, show what worked before, or memories about its error"
    )
    surface_kinds_off: tuple[str, ...] = Field(
        default=(), description="kinds of memories that are shown only when they are searched for"
    )
    session_surfaces: int = Field(default=3, ge=0, description="maximum memories shown to one session after its start")
    receipts: bool = Field(
        default=True,
        description="show in one line which memories a session was shown and what was stored, and ask whether a"
        " statement replaces an older one",
    )

    links: bool = Field(default=True, description="find links between memories, and use and show them")

    embedder: Annotated[Literal["local", "openai", "ollama", "none"], Guarded(safer=if_local)] = Field(
        default="local", description="what computes embeddings"
    )
    embedder_model: str = Field(default="", description="model of a remote embedder; empty: that embedder's default")
    embedder_base_url: Annotated[str, Guarded()] = Field(
        default="", description="address of a server with OpenAI's or Ollama's API for embeddings"
    )
    embedder_key: SecretStr = Field(default=SecretStr(""), description="key of the remote embedder")
    embedder_prompts: Annotated[bool, Guarded(safer=if_off)] = Field(
        default=False,
        description="send your prompts, redacted, to the remote embedder, so that hooks can search by meaning",
    )
    reword: Annotated[bool, Guarded(safer=if_off)] = Field(
        default=False, description="ask the provider's model for additional words for each search"
    )

    archive_faded: bool = Field(default=True, description="archive unused memories once a day")
    archive_policy: Annotated[str, Guarded()] = Field(
        default="weighted", description="the formula by which memories fade"
    )
    half_lives: Annotated[dict[str, float], Guarded()] = Field(
        default={}, description="half-lives in days, by kind, instead of the defaults; 0: never fades"
    )
    consolidation: bool = Field(default=True, description="summarize similar memories once a week")
    rendered: bool = Field(
        default=True,
        description="keep a readable copy of each project; a session can start from it without the daemon",
    )

    provider: Annotated[str, Guarded(safer=if_none)] = Field(
        default="none", description=f"whose model is used: {offered_providers()}"
    )
    provider_fallback: Annotated[tuple[str, ...], Guarded(safer=if_off)] = Field(
        default=(), description="providers that are used, in this order, when the first one is unavailable"
    )
    provider_options: Annotated[dict[str, dict[str, Any]], Guarded()] = Field(
        default={}, description="further options, one table for each provider"
    )
    store: Annotated[str, Guarded(safer=if_off)] = Field(
        default="", description="address of a team's store on PostgreSQL, without the password"
    )
    store_key: SecretStr = Field(default=SecretStr(""), description="password for the team's store")
    git_command: Annotated[str, Guarded()] = Field(
        default="", description="path of Git, if Git isn't found or you want another one"
    )
    claude_code_tokens_per_day: Annotated[int, Guarded(safer=if_lower)] = Field(
        default=150_000, ge=0, description="limit of tokens a day for requests to Claude Code; 0: no requests"
    )
    cost_per_day: Annotated[float, Guarded(safer=if_lower)] = Field(
        default=10, ge=0, description="spending limit in dollars a day; once it is reached, work waits"
    )
    cost_per_session: Annotated[float, Guarded(safer=if_lower)] = Field(
        default=5, ge=0, description="spending limit in dollars a session; once it is reached, its work waits"
    )
    cost_assumed: Annotated[float, Guarded(safer=if_higher)] = Field(
        default=20, ge=0, description="price in dollars per million tokens to assume for a model without a known price"
    )

    idle_exit_minutes: float = Field(default=30, gt=0, description="minutes without work after which the daemon exits")

    @field_validator("start_tokens", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        """Accept floats: Claude Code's plugin options have no integers."""
        try:
            return round(float(value))
        except (TypeError, ValueError, OverflowError):
            return value

    @field_validator("half_lives")
    @classmethod
    def _of_kinds(cls, value: dict[str, float]) -> dict[str, float]:
        """Reject unknown kinds, and negative or infinite half-lives."""
        _refuse_unknown(value)
        for kind, days in value.items():
            if not 0 <= days < float("inf"):
                raise ValueError(f"{kind} can't have a half-life of {days} days")
        return value

    @field_validator("archive_policy")
    @classmethod
    def _known_policy(cls, value: str) -> str:
        if value not in POLICIES:
            raise ValueError(f"there is no archive policy {value!r}; policies: {', '.join(POLICIES)}")
        return value

    @field_validator("surface_kinds_off")
    @classmethod
    def _kinds(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Reject unknown kinds: after a typo, memories of that kind would still be shown."""
        _refuse_unknown(value)
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
        """Give variables priority over the arguments (config.toml and plugin options); ignore a project's .env file.

        For API keys, the process's variables come last instead, and a session's variables are ignored.
        """
        del env_settings, dotenv_settings, file_secret_settings
        of_session, of_process = _SessionSource(settings_cls), _VariablesSource(settings_cls)
        return (
            _WithoutKeys(settings_cls, of_session),
            _WithoutKeys(settings_cls, of_process),
            init_settings,
            of_process,
        )

    def of_provider(self, name: str) -> dict[str, str]:
        """Return a provider's own settings by their short names (``model``, ``key``, ...), the key in plain text."""
        values = {own: getattr(self, f"{name}_{own}") for own in provider_row(name).settings}
        return {own: value.get_secret_value() if own == "key" else value for own, value in values.items()}


def _provider_fields() -> dict[str, Any]:
    """Return the fields of the providers' own settings, for ``create_model``."""
    return {
        f"{row.name}_{own}": (SecretStr, Field(default=SecretStr(""), description=text))
        if own == "key"
        else (str, Field(default="", description=text))
        for row in provider_rows().values()
        for own, text in row.settings.items()
    }


if TYPE_CHECKING:

    class Settings(_Common):
        """All settings with their defaults. An unknown name in config.toml is an error, so that typos are noticed."""

else:
    Settings = create_model("Settings", __base__=_Common, __module__=__name__, **_provider_fields())


def _guards() -> dict[str, Guarded]:
    marked = {
        name: next((mark for mark in known.metadata if isinstance(mark, Guarded)), None)
        for name, known in Settings.model_fields.items()
    }
    of_providers = {name: Guarded() for row in provider_rows().values() for name in row.guarded}
    return {name: mark for name, mark in marked.items() if mark} | of_providers


GUARDS = _guards()
"""The guarded settings, with the test for changes that need no approval."""


def _refuse_unknown(kinds: Iterable[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"there is no memory kind {kind!r}; kinds: {', '.join(KINDS)}")


KEYS = frozenset(name for name, known in Settings.model_fields.items() if known.annotation is SecretStr)
"""Secret settings: masked in all output, and never read from a file that other users can read."""


RETIRED_WHY = {
    "spool_max_days": "entries are never deleted because of their age",
    "claude_code_config_dir": "write config_dir into the table [provider_options.claude_code]",
    **dict.fromkeys(Tuning.__annotations__, "its value can't be changed any more"),
}
"""Settings of earlier versions, and why they were removed. A config.toml that has one still works."""
RETIRED = frozenset(RETIRED_WHY)


class _WithoutKeys(PydanticBaseSettingsSource):
    """A source of settings with the values of another source, except API keys and passwords (`KEYS`)."""

    def __init__(self, settings_cls: type[BaseSettings], source: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._source = source

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._source.get_field_value(field, field_name)

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, value in self._source().items() if name not in KEYS}


PREFIX = "SUBCONSCIOUS_"
VARIABLES = frozenset(f"{PREFIX}{name}".lower() for name in Settings.model_fields)
"""The names of the variables that set a setting, in lower case, as pydantic-settings compares them."""

_session_variables: ContextVar[Mapping[str, str]] = ContextVar("session_variables", default={})  # noqa: B039 - not changed


class _VariablesSource(EnvSettingsSource):
    """The variables of this process.

    If no variable is a setting, as usual, the source is empty, and the settings are not looked up one by one.
    """

    def __call__(self) -> dict[str, Any]:
        return super().__call__() if VARIABLES.intersection(self.env_vars) else {}


class _SessionSource(_VariablesSource):
    """A source of settings: the variables of a session instead of the variables of this process."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in _session_variables.get().items()}


@contextmanager
def _with_variables(variables: Mapping[str, str]) -> Iterator[None]:
    token = _session_variables.set(variables)
    try:
        yield
    finally:
        _session_variables.reset(token)


def load_settings(home: Path | None, options: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of one state folder.

    ``options`` are the plugin's options, as Claude Code passes them to hooks, and the session's variables under their
    full names. The order of priority is: the session's variables, the process's variables, config.toml, the plugin's
    options. Raises SettingsError, naming the setting and the file, if a value is invalid.
    """
    variables = {name: value for name, value in (options or {}).items() if name.startswith(PREFIX)}
    with _with_variables(variables):
        return _load_settings(home, options or {})


def _load_settings(home: Path | None, options: Mapping[str, str]) -> Settings:
    values: dict[str, Any] = {k: v for k, v in options.items() if k in Settings.model_fields}
    config = home / "config.toml" if home else None
    if config is not None and not is_missing(config):
        values.update(_without_open_keys(config, _known_values(config)))
    try:
        return Settings(**values)
    except UnreadableVariable as error:  # a list or table whose value is not JSON
        raise SettingsError(str(error), "set that variable to a JSON value, or unset it") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SettingsError(
            f"setting {key!r}: {first['msg']}",
            f"correct {key!r} in {config} or the variable SUBCONSCIOUS_{key.upper()}",
        ) from error


def keys_in_config(home: Path, otherwise: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names of the keys that are set in config.toml; ``otherwise`` if the file can't be read.

    The result is empty if other users can access the file, because its keys are ignored then.
    """
    config = home / "config.toml"
    if is_missing(config):
        return frozenset()
    try:
        values = read_config(config)
        return frozenset() if is_open(config) else frozenset(name for name in KEYS if values.get(name))
    except (OSError, SettingsError):  # reported when its settings are loaded
        return otherwise


def _without_open_keys(config: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without API keys, with a warning in the log, if other users can read the config file."""
    exposed = sorted(KEYS & set(values))
    if not exposed or not is_open(config):
        return values
    log.warning(
        "%s can be read by other users, so these keys are ignored: %s; run: chmod 600 %s",
        config,
        ", ".join(exposed),
        config,
    )
    return {name: value for name, value in values.items() if name not in exposed}


def _known_values(config: Path) -> dict[str, Any]:
    values = read_config(config)
    for name in sorted(RETIRED & set(values)):
        log.warning("%s: the setting %s has no effect any more (%s); remove it", config, name, RETIRED_WHY[name])
        del values[name]
    unknown = sorted(set(values) - set(Settings.model_fields))
    if unknown:
        raise SettingsError(
            f"{config} has unknown settings: {', '.join(map(_with_suggestion, unknown))}",
            f"correct or remove them in {config}; `subconscious status --settings` lists those that exist",
        )
    return values


def _with_suggestion(name: str) -> str:
    """Return the name of an unknown setting, with the setting that was probably meant."""
    near = difflib.get_close_matches(name.lower().replace("-", "_"), Settings.model_fields, n=1)
    return f"{name} (did you mean {near[0]}?)" if near else name
