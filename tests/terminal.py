"""Moved to tests.support.terminal; the old name is kept until nothing imports it."""

from tests.support.terminal import *  # noqa: F403
