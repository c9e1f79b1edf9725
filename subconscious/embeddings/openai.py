"""Embeddings of OpenAI or a compatible server, such as llama.cpp, vLLM, LM Studio or OpenRouter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subconscious import extras
from subconscious.domain.errors import EmbedderBusyError, EmbedderError, EmbedderKeyError, EmbedderTextError
from subconscious.embeddings.remote import TOO_LONG, Answer, RemoteEmbedder

if TYPE_CHECKING:
    import openai

HERE = "https://api.openai.com/v1"


class OpenAIEmbedder(RemoteEmbedder):
    """The embedder for OpenAI. It uses the official SDK without its retries, and ignores OPENAI_* variables."""

    provider = "openai"
    default_model = "text-embedding-3-small"

    def _connect(self) -> None:
        access = self._access
        if not access.key and not access.base_url:
            raise EmbedderKeyError("OpenAI needs a key", 'set embedder_key in config.toml, or embedder = "local"')
        if absence := extras.ensure("openai"):
            raise EmbedderBusyError(absence.message, absence.remedy, absence.seconds)
        try:
            import openai
        except ImportError as error:
            raise EmbedderError(f"OpenAI's SDK can't be loaded: {error}", REINSTALL) from error
        self._client: openai.OpenAI = openai.OpenAI(
            api_key=access.key or "none",  # private servers need none, but the SDK does
            admin_api_key="",
            base_url=access.base_url or HERE,
            organization="",
            project="",
            webhook_secret="",
            timeout=access.timeout,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(trust_env=False, follow_redirects=False),
        )
        # The SDK has no other way to not send the headers in OPENAI_CUSTOM_HEADERS; an empty header would be sent as
        # well.
        self._client._custom_headers = {}
        self._client.organization = self._client.project = None

    def _ask(self, texts: Sequence[str], timeout: float) -> Answer:
        import openai

        try:
            answer = self._client.embeddings.create(
                input=list(texts), model=self.model, encoding_format="float", timeout=timeout
            )
            # Vectors are ordered by index; the list may be in any order.
            ordered = sorted(answer.data, key=lambda item: item.index)
            return Answer([list(item.embedding) for item in ordered], answer.usage.total_tokens if answer.usage else 0)
        except openai.OpenAIError as error:
            raise _converted(error, self.model) from error
        except (AttributeError, TypeError, ValueError) as error:
            # The SDK does not check the answer: perhaps it is not JSON, or JSON of another kind.
            raise EmbedderBusyError(f"the answer is invalid: {error}", _ADDRESS) from error

    def _disconnect(self) -> None:
        self._client.close()


def _converted(error: openai.OpenAIError, model: str) -> EmbedderError:
    """Return an error of the SDK as an EmbedderError."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return error_of_status(error.status_code, error.message, error.response.headers.get("retry-after"), model)
    if isinstance(error, openai.APITimeoutError):
        return EmbedderBusyError("the embedder took too long", _ADDRESS)
    return EmbedderBusyError(f"the embedder can't be reached: {error}", _ADDRESS)


def error_of_status(status: int, message: str, retry_after: str | None, model: str) -> EmbedderError:
    """Return the error for an HTTP status; its type decides whether the call may be retried."""
    text = f"the embedder answered {status}: {message[:300]}"
    if status in (401, 403):
        return EmbedderKeyError(text, "correct embedder_key in config.toml, then run `subconscious daemon stop`")
    if status == 404:
        return EmbedderError(text, f"check that the server has the model {model!r} (embedder_model, embedder_base_url)")
    # llama.cpp reports a text that is too long with a 500.
    if status in (400, 413, 422) or (status == 500 and TOO_LONG.search(message)):
        return EmbedderTextError(text, "see the server's reason in the message")
    return EmbedderBusyError(text, "wait, or check the server", _seconds(retry_after))


def _seconds(retry_after: str | None) -> float | None:
    """Return the value of a Retry-After header in seconds; None if there is none, or if it is a date."""
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        return None


_ADDRESS = "check embedder_base_url, and that the server runs"
REINSTALL = "remove the folder env/ of the state folder, so that the environment is created again"
