"""Embeddings of models that Ollama runs, on this machine or another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subconscious.domain.errors import EmbedderBusyError, EmbedderError
from subconscious.embeddings.openai import REINSTALL, error_of_status
from subconscious.embeddings.remote import Answer, RemoteEmbedder

if TYPE_CHECKING:
    import ollama

HERE = "http://127.0.0.1:11434"


class OllamaEmbedder(RemoteEmbedder):
    """The embedder for Ollama. It uses the official SDK and ignores OLLAMA_* variables. Ollama truncates long texts."""

    provider = "ollama"
    default_model = "nomic-embed-text"
    batch = 32

    def _connect(self) -> None:
        times = {self._access.timeout, self._access.check_seconds}
        try:
            self._clients = {seconds: self._client(seconds) for seconds in times}
        except ImportError as error:
            raise EmbedderError(f"Ollama's SDK can't be loaded: {error}", REINSTALL) from error

    def _client(self, timeout: float) -> ollama.Client:
        import ollama

        client = ollama.Client(self._access.base_url or HERE, timeout=timeout, trust_env=False, follow_redirects=False)
        # The SDK has no other way to not send the key in OLLAMA_API_KEY.
        client._client.headers.pop("authorization", None)
        if self._access.key:
            client._client.headers["authorization"] = f"Bearer {self._access.key}"
        return client

    def _ask(self, texts: Sequence[str], timeout: float) -> Answer:
        import httpx
        import ollama

        try:
            answer = self._clients[timeout].embed(self.model, list(texts), truncate=True)
        except ollama.ResponseError as error:
            raise _converted(error, self.model) from error
        except (httpx.HTTPError, ConnectionError, TypeError, ValueError) as error:
            # TypeError, ValueError: the answer is truncated, not JSON, or of another kind.
            raise EmbedderBusyError(f"Ollama can't be reached: {str(error) or type(error).__name__}", _UP) from error
        return Answer(answer.embeddings, answer.prompt_eval_count or 0)

    def _disconnect(self) -> None:
        for client in self._clients.values():
            client.close()  # type: ignore[no-untyped-call]


def _converted(error: ollama.ResponseError, model: str) -> EmbedderError:
    # The SDK drops the answer that has Retry-After, but it is still in the context of the exception.
    response = getattr(error.__context__, "response", None)
    converted = error_of_status(
        error.status_code, str(error.error), response and response.headers.get("retry-after"), model
    )
    if error.status_code == 404:
        converted.remedy = f"run `ollama pull {model}`, or set embedder_model to one of `ollama list`"
    return converted


_UP = "start Ollama (`ollama serve`), or correct embedder_base_url"
