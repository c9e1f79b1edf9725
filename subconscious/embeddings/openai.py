"""OpenAI's embeddings, or those of any server that speaks as it does: llama.cpp, vLLM, LM Studio, OpenRouter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subconscious import extras
from subconscious.embeddings.remote import TOO_LONG, Answer, RemoteEmbedder
from subconscious.errors import EmbedderBusyError, EmbedderError, EmbedderKeyError, EmbedderTextError

if TYPE_CHECKING:
    import openai

HERE = "https://api.openai.com/v1"


class OpenAIEmbedder(RemoteEmbedder):
    """On the official SDK; every retry is ours, and nothing is taken from OPENAI_* variables."""

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
            api_key=access.key or "none",  # servers of one's own ask for none, but the SDK does
            admin_api_key="",
            base_url=access.base_url or HERE,
            organization="",
            project="",
            webhook_secret="",
            timeout=access.timeout,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(trust_env=False, follow_redirects=False),
        )
        # The SDK leaves no other way not to send what lies in OPENAI_CUSTOM_HEADERS; an empty header is sent as well.
        self._client._custom_headers = {}
        self._client.organization = self._client.project = None

    def _ask(self, texts: Sequence[str], timeout: float) -> Answer:
        import openai

        try:
            answer = self._client.embeddings.create(
                input=list(texts), model=self.model, encoding_format="float", timeout=timeout
            )
            # A server's order is told by its index; the list may be in any.
            ordered = sorted(answer.data, key=lambda item: item.index)
            return Answer([list(item.embedding) for item in ordered], answer.usage.total_tokens if answer.usage else 0)
        except openai.OpenAIError as error:
            raise _told(error, self.model) from error
        except (AttributeError, TypeError, ValueError) as error:
            # The SDK does not check what it is answered: not JSON at all, or JSON of another kind.
            raise EmbedderBusyError(f"the answer makes no sense: {error}", _ADDRESS) from error

    def _disconnect(self) -> None:
        self._client.close()


def _told(error: openai.OpenAIError, model: str) -> EmbedderError:
    """What happened, as one of ours."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return of_status(error.status_code, error.message, error.response.headers.get("retry-after"), model)
    if isinstance(error, openai.APITimeoutError):
        return EmbedderBusyError("the embedder took too long", _ADDRESS)
    return EmbedderBusyError(f"the embedder can't be reached: {error}", _ADDRESS)


def of_status(status: int, message: str, retry_after: str | None, model: str) -> EmbedderError:
    """What an HTTP status means; whether it may be tried again hangs on it."""
    told = f"the embedder answered {status}: {message[:300]}"
    if status in (401, 403):
        return EmbedderKeyError(told, "correct embedder_key in config.toml, then `subconscious daemon stop`")
    if status == 404:
        return EmbedderError(told, f"is there a model {model!r} at that address? (embedder_model, embedder_base_url)")
    # llama.cpp says with a 500 that a text is too long.
    if status in (400, 413, 422) or (status == 500 and TOO_LONG.search(message)):
        return EmbedderTextError(told, "see what the server says of this text")
    return EmbedderBusyError(told, "wait, or see how the server is", _seconds(retry_after))


def _seconds(retry_after: str | None) -> float | None:
    """Retry-After in seconds; its other form, a date, is rare enough to count as none."""
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        return None


_ADDRESS = "see whether embedder_base_url is right and the server is up"
REINSTALL = "remove the folder env/ of the state folder, so that the environment is made anew"
