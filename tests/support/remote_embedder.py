"""A state folder whose embedder is a remote one."""

from __future__ import annotations

from pathlib import Path

from subconscious.settings.home import Home
from tests.support.daemons import configure
from tests.support.embedding_server import EmbeddingServer


def configure_remote(home: Home, server: EmbeddingServer, model: str) -> None:
    configure(
        home,
        embedder='"openai"',
        embedder_model=f'"{model}"',
        embedder_base_url=f'"{server.url}/v1"',
        embedder_key='"dummy"',
    )
    Path(home.root / "config.toml").chmod(0o600)
