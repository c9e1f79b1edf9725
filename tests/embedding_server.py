"""Moved to tests.support.embedding_server; the old name is kept until nothing imports it."""

from tests.support.embedding_server import *  # noqa: F403
