"""Moved to tests.support.client_stub; the old name is kept until nothing imports it."""

from tests.support.client_stub import *  # noqa: F403
