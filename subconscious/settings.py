"""Settings: read once at the entry, from SUBCONSCIOUS_* variables, then config.toml, then the plugin's options.

Keys are found the other way round, in config.toml, then among the options, then in the variables. A session's own
variables come with its requests and hold for these alone. Its keys are not read here: they come over the socket, beside
the requests, and the daemon uses them for that session's questions to a model.
"""

from __future__ import annotations

import difflib
import logging
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableVariable

from subconscious.errors import SettingsError
from subconscious.kinds import KINDS
from subconscious.safe_files import is_missing, read_regular
from subconscious.tuning import Tuning

log = logging.getLogger("subconscious.settings")
Strategy = Literal["off", "redact", "mask", "block", "warn"]
"""What is done about personal data: not looked for, a mark in its place, a mark with its end, no text at all, noted."""


class Settings(Tuning, BaseSettings):
    """What a person may change, with its default. Unknown keys are refused: a typo must not pass unseen."""

    model_config = SettingsConfigDict(env_prefix="SUBCONSCIOUS_", env_ignore_empty=True, extra="ignore", frozen=True)

    off: bool = Field(default=False, description="turn everything off; hooks read it from the environment alone")
    capture: bool = Field(default=True, description="learn from sessions")
    claude_notes: bool = Field(
        default=True, description="find Claude Code's own notes too, and repeat nothing that it loads itself"
    )
    summaries: bool = Field(default=True, description="tell what each session was about")
    surface: bool = Field(default=True, description="give memories to sessions")
    mcp: bool = Field(default=True, description="offer the model tools to look into its memory")

    auto_threshold: float = Field(default=0.9, ge=0, le=1, description="confidence that is stored at once")
    review_threshold: float = Field(default=0.7, ge=0, le=1, description="confidence that is queued")
    review_expiry_days: float = Field(default=7, gt=0, description="days a queued capture waits")
    calibration: bool = Field(default=True, description="correct stated confidence by what you decided")
    session_captures: int = Field(
        default=15, ge=0, description="captures that one session may bring, the strongest first"
    )
    unconfirmed: bool = Field(
        default=True, description="keep the best of what the assistant found, marked, until it is confirmed"
    )
    dedupe: bool = Field(default=True, description="merge a repeated statement into its memory")
    refine: bool = Field(default=True, description="let the provider's model read sessions too, where there is one")
    model_scores: Literal["keep", "five"] = Field(
        default="keep",
        description="how a model scores what it finds: one score, or five whose weighted sum counts",
    )
    refine_tokens: int = Field(
        default=12_000, ge=1, description="tokens of new turns from which it reads on before a session pauses or ends"
    )
    refine_pause_seconds: float = Field(
        default=30, gt=0, description="pause after the provider could not be asked; doubles with every failure"
    )
    chunk_tokens: int = Field(default=50_000, ge=200, description="tokens of a transcript that it reads at once")

    redact_secrets: Literal["redact", "mask", "block"] = Field(
        default="redact", description="what is done about keys and passwords"
    )
    redact_payment: Strategy = Field(default="redact", description="about numbers of cards and bank accounts")
    redact_email: Strategy = Field(default="off", description="about addresses of people's mail")
    redact_phone: Strategy = Field(default="off", description="about telephone numbers")
    redact_ip: Strategy = Field(default="off", description="about public addresses of machines")

    poisoning: bool = Field(default=True, description="check what is captured for poisoning")

    start_tokens: int = Field(default=600, ge=0, le=2300, description="budget at session start")
    start_memories: int = Field(default=8, ge=0, le=50, description="memories given at once")
    handover: bool = Field(default=True, description="tell a session what the last one on its branch left")

    surface_prompts: bool = Field(default=True, description="give memories that fit a prompt")
    surface_files: bool = Field(default=True, description="give memories bound to a file that is read or changed")
    surface_errors: bool = Field(
        default=True,
        description="give a tool that failed the way out that was observed, or memories that know its error",
    )
    surface_kinds_off: tuple[str, ...] = Field(default=(), description="kinds that are never given unasked")
    session_surfaces: int = Field(default=3, ge=0, description="memories given unasked in one session, start apart")
    session_tokens: int = Field(default=300, ge=0, description="budget of these in one session, start apart")
    surface_due: bool = Field(default=True, description="give a memory when the date that it names has come")
    receipts: bool = Field(default=True, description="say in one line what a session was given and what was stored")
    feedback: bool = Field(default=True, description="rank by whether answers used what they were given")
    mark_outdated: bool = Field(default=True, description="mark what is bound to a file that has changed since")
    mark_branches: bool = Field(default=True, description="mark what was said on a branch that is not merged")

    links: bool = Field(default=True, description="find out how memories bear on each other, let it count, mark it")
    link_limit: int = Field(default=20, ge=0, le=100, description="links that are found for one memory at most")

    embedder: Literal["local", "openai", "ollama", "none"] = Field(default="local", description="what makes embeddings")
    embedder_model: str = Field(default="", description="the model of a remote embedder; empty: the one we chose")
    embedder_base_url: str = Field(default="", description="a server that speaks as OpenAI or Ollama does")
    embedder_key: SecretStr = Field(default=SecretStr(""), description="the remote embedder's key")
    embedder_prompts: bool = Field(
        default=False, description="send it, redacted, what you type, so that hooks find by meaning too"
    )
    fusion: Literal["relative", "rrf", "nexus"] = Field(default="relative", description="how engines are fused")
    reword: bool = Field(
        default=False, description="ask the provider's model which words a search lacks, where one waits for it"
    )
    reword_seconds: float = Field(default=3, gt=0, description="time that a search waits for those words")
    tier: Literal["minimal", "compact", "standard", "full"] = Field(
        default="standard", description="how much of each memory a recall tells"
    )
    recall_budget: Literal["lean", "balanced", "deep"] = Field(
        default="balanced", description="how far a search looks and how much text it answers with"
    )
    recall_mode: Literal["preset", "any", "auto", "execution", "planning", "brainstorming"] = Field(
        default="preset", description="what is asked for: `auto` reads it off the question, as `nexus` does"
    )
    trust_marks: bool = Field(
        default=True, description="say how far a memory can be trusted, and what it conflicts with"
    )

    archive_faded: bool = Field(default=True, description="archive once a day what has faded")
    archive_policy: Literal["weighted", "composite", "exp30", "exp001"] = Field(
        default="weighted", description="by which formula it fades"
    )
    archive_below: float = Field(default=0.3, ge=0, le=1, description="what is left of a memory when it goes")
    archive_patience: float = Field(
        default=1, ge=0, description="half-lives of its kind that it stays unused in any case; 0: the formula alone"
    )
    half_lives: dict[str, float] = Field(default={}, description="days, by kind, in place of ours; 0: it never fades")

    consolidation: bool = Field(default=True, description="once a week sum up memories that say much of the same")
    rendered: bool = Field(
        default=True, description="keep a copy of each project to read, and to start with without the daemon"
    )

    provider: str = Field(default="none", description="the model that is asked: anthropic, openai, ...")
    provider_fallback: tuple[str, ...] = Field(
        default=(), description="providers that are asked when it can't be, in this order"
    )
    anthropic_model: str = Field(default="", description="Anthropic's model; empty: the one we chose")
    anthropic_url: str = Field(default="", description="another place of Anthropic's API")
    anthropic_key: SecretStr = Field(default=SecretStr(""), description="key of Anthropic's API")
    openai_model: str = Field(default="", description="OpenAI's model, or that of a server that speaks as it does")
    openai_url: str = Field(default="", description="a server that speaks as OpenAI does: vLLM, LM Studio, ...")
    openai_key: SecretStr = Field(default=SecretStr(""), description="key of OpenAI's API or of such a server")
    ollama_model: str = Field(default="", description="Ollama's model")
    ollama_url: str = Field(default="", description="another place of Ollama than this machine")
    ollama_key: SecretStr = Field(default=SecretStr(""), description="key, where Ollama asks for one")
    claude_code_model: str = Field(default="", description="the model that Claude Code is asked for")
    claude_code_command: str = Field(default="", description="its command, where `claude` isn't found")
    claude_code_config_dir: str = Field(default="", description="its CLAUDE_CONFIG_DIR, where that isn't the usual")
    git_command: str = Field(default="", description="the path of Git, where it isn't found or another one is meant")
    provider_options: dict[str, dict[str, Any]] = Field(
        default={}, description="further options, a table for each provider"
    )
    provider_attempts: int = Field(default=4, ge=1, le=20, description="tries of a call before its job waits")
    requests_per_minute: int = Field(default=60, ge=1, description="calls of one provider in any minute")
    tokens_per_minute: int = Field(default=100_000, ge=1, description="tokens of one provider in any minute")
    breaker_seconds: float = Field(default=60, gt=0, description="how long it rests")
    claude_code_tokens_per_day: int = Field(
        default=150_000, ge=0, description="tokens of a day that Claude Code is asked for: a subscription has limits"
    )
    cost_per_day: float = Field(default=10, ge=0, description="dollars of a day, from which on work waits")
    cost_per_session: float = Field(default=5, ge=0, description="dollars of a session, as above")
    cost_assumed: float = Field(
        default=20, ge=0, description="dollars a million tokens that an unknown price counts as against the caps"
    )

    native_batch_seconds: float = Field(default=60, gt=0, description="pause before asking how far a batch is")

    maintenance: bool = Field(default=True, description="nightly, weekly and monthly upkeep")
    maintenance_quiet_seconds: float = Field(
        default=120, ge=0, description="silence of prompts and commands that it waits for"
    )
    maintenance_share: float = Field(
        default=0.25, gt=0, le=1, description="share of one processor's time that it may take"
    )

    job_attempts: int = Field(default=5, ge=1, description="tries before a job is buried")
    idle_exit_minutes: float = Field(default=30, gt=0, description="quiet time after which the daemon leaves")
    silent_minutes: float = Field(default=30, gt=0, description="silence after which a session is closed")
    spool_max_mb: int = Field(
        default=256, ge=1, description="size the spool may reach; the oldest entries beyond it are dropped"
    )

    @field_validator("start_tokens", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        """Claude Code's plugin options know numbers only, not whole ones."""
        try:
            return round(float(value))
        except (TypeError, ValueError, OverflowError):
            return value

    @field_validator("half_lives")
    @classmethod
    def _of_kinds(cls, value: dict[str, float]) -> dict[str, float]:
        """A typo in a kind must not pass unseen, and time goes forward."""
        _refuse_unknown(value)
        for kind, days in value.items():
            if not 0 <= days < float("inf"):
                raise ValueError(f"{kind} can't have a half-life of {days} days")
        return value

    @field_validator("surface_kinds_off")
    @classmethod
    def _kinds(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """A typo in a kind must not pass unseen: it would go on being given."""
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
        """Environment before what is passed in (config.toml over plugin options); no .env of the user's project.

        With keys it is the other way round: what lies in an environment comes last.
        """
        del dotenv_settings, file_secret_settings
        of_session = _WithoutKeys(settings_cls, _OfSession(settings_cls))
        return of_session, _WithoutKeys(settings_cls, env_settings), init_settings, env_settings


def _refuse_unknown(kinds: Iterable[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}; kinds are: {', '.join(KINDS)}")


LONGEST_CONFIG = 1 << 20
"""Bytes of a config.toml that are read: that of every setting has some 10 KB."""

KEYS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)
"""Settings that are secret: masked wherever they are shown, and never taken from a file that others may read."""


RETIRED_WHY = {
    "spool_max_days": "the age of an entry never deletes it, only spool_max_mb does",
    **dict.fromkeys(Tuning.__annotations__, "it is fixed now"),
}
"""Settings of earlier versions, and why they are gone: a config.toml that still has one goes on working."""
RETIRED = frozenset(RETIRED_WHY)


class _WithoutKeys(PydanticBaseSettingsSource):
    """Another source's values, but for the keys."""

    def __init__(self, settings_cls: type[BaseSettings], source: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._source = source

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._source.get_field_value(field, field_name)

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, value in self._source().items() if name not in KEYS}


PREFIX = "SUBCONSCIOUS_"
_session_variables: ContextVar[Mapping[str, str]] = ContextVar("session_variables", default={})  # noqa: B039 - not changed


class _OfSession(EnvSettingsSource):
    """The variables of the session whose settings are being read, in place of this process's own."""

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

    ``options`` are the plugin's, as Claude Code passes them to hooks; config.toml outranks them, and
    SUBCONSCIOUS_* variables outrank both, first those of the session, which stand among the options by their full
    names. Raises SettingsError with the key and the file that hold a bad value.
    """
    variables = {name: value for name, value in (options or {}).items() if name.startswith(PREFIX)}
    with _with_variables(variables):
        return _load_settings(home, options or {})


def _load_settings(home: Path | None, options: Mapping[str, str]) -> Settings:
    values: dict[str, Any] = {k: v for k, v in options.items() if k in Settings.model_fields}
    config = home / "config.toml" if home else None
    if config is not None and not is_missing(config):
        values.update(_without_open_keys(config, _read_config(config)))
    try:
        return Settings(**values)
    except UnreadableVariable as error:  # of a list or table, whose value is no JSON
        raise SettingsError(str(error), "give that variable a value in JSON, or none") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SettingsError(
            f"setting {key!r}: {first['msg']}",
            f"correct {key!r} in {config} or the variable SUBCONSCIOUS_{key.upper()}",
        ) from error


def require_written(home: Path) -> None:
    """Raise SettingsError for a config.toml of zero bytes.

    That is what a crash leaves of a file that was being written; with the defaults, what was switched off would be on.
    """
    config = home / "config.toml"
    if config.exists() and config.stat().st_size == 0:
        raise SettingsError(f"{config} is empty: its settings may be lost", f"write them again, or: rm {config}")


def keys_in_config(home: Path, otherwise: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names of the keys that config.toml has and that are used; ``otherwise`` where it can't be read."""
    config = home / "config.toml"
    if is_missing(config):
        return frozenset()
    try:
        values = tomllib.loads(read_regular(config, LONGEST_CONFIG).decode("utf-8"))
        # What is wrong with the file is told when its settings are loaded.
        return frozenset() if is_open(config) else frozenset(name for name in KEYS if values.get(name))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return otherwise


def is_open(config: Path) -> bool:
    """Whether others than its owner may read a file, or write to it."""
    return bool(stat.S_IMODE(config.stat().st_mode) & 0o077)


def _without_open_keys(config: Path, values: dict[str, Any]) -> dict[str, Any]:
    """A key that others may read is not used: whoever put it there must hear of it, and not from a bill."""
    exposed = sorted(KEYS & set(values))
    if not exposed or not is_open(config):
        return values
    log.warning("%s is open to other users: not used are %s; chmod 600 %s", config, ", ".join(exposed), config)
    return {name: value for name, value in values.items() if name not in exposed}


def _read_config(config: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(read_regular(config, LONGEST_CONFIG).decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{config} can't be read: {error}", f"mend or remove {config}") from error
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
    """A name that is none of a setting, with the setting that was probably meant."""
    near = difflib.get_close_matches(name.lower().replace("-", "_"), Settings.model_fields, n=1)
    return f"{name} (did you mean {near[0]}?)" if near else name
